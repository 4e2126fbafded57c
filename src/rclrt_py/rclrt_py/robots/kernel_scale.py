# SPDX-License-Identifier: Apache-2.0
"""Priorities of the kernel in place of those that another tool states one by one.

An executor gives its levels the priorities directly below its `top_priority`, without gaps. Their
order is that of the stated priorities, and the most urgent one keeps its number where possible.
"""

from __future__ import annotations

from collections.abc import Iterable

from rclrt_py.analyses.robot_file import HIGHEST_TOP_PRIORITY

HIGHEST_OF_RULES = 98
"""The highest priority of a rule for threads in a robot.yaml."""
LOWEST_TOP_PRIORITY = 2


class KernelScale:
    """The SCHED_FIFO priorities of levels, by the priorities that were stated for them."""

    def __init__(self, stated: Iterable[int]) -> None:
        self.levels = sorted(set(stated), reverse=True)
        highest = self.levels[0] if self.levels else 0
        self.top = max(LOWEST_TOP_PRIORITY, min(highest + 1, HIGHEST_TOP_PRIORITY))

    @property
    def fits(self) -> bool:
        """True: there is a priority for each level."""
        return len(self.levels) < self.top

    def of_level(self, stated: int) -> int:
        """Returns the priority of a level's threads, if the executor has all levels."""
        return self.top - 1 - self.levels.index(stated)

    def of_thread(self, stated: int) -> tuple[int, bool]:
        """Returns the priority for a thread that is not of the executor, and whether it is above
        and below the same levels as before. Between two levels there is no priority: there the
        thread gets that of the lower one. Below all levels there may be none: it gets 1."""
        if not self.levels:
            return min(stated, HIGHEST_OF_RULES), stated <= HIGHEST_OF_RULES
        if stated > self.levels[0]:
            return min(max(stated, self.top), HIGHEST_OF_RULES), True
        if stated < self.levels[-1]:
            below_all = min(stated, self.of_level(self.levels[-1]) - 1)
            return max(below_all, 1), below_all >= 1
        below = next(level for level in self.levels if level <= stated)
        return self.of_level(below), below == stated
