# SPDX-License-Identifier: Apache-2.0
"""Whether an application may need more of a CPU than the kernel leaves to real-time threads."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rclrt_cli.bounds.machine import Overheads

if TYPE_CHECKING:
    from rclrt_model import Application

PERIOD_S = 1.0
"""Of the kernel's limit, by default."""
MOST_RELEASES = 100_000
"""That are looked at; of more the limit is taken to be reached."""
SOURCES = ("timer", "event")
"""Kinds of callbacks that no message releases."""
Cpus = tuple[int, ...]


@dataclass(frozen=True)
class Work:
    """What one callback may take of a CPU, in seconds."""

    rate: float
    """Releases a second."""
    demand_s: float
    """Of one instance."""
    late_instances: int = 0
    """Which may come together with the next ones: through another CPU, or from several sources."""
    jitter_s: float = 0.0
    """How late a release may be."""

    def before(self, seconds: float) -> float:
        """Of what is released in so long, but not at its end, if one is released at its begin."""
        releases = math.ceil((seconds + self.jitter_s) * self.rate - 1e-9)
        return self.demand_s * (max(releases, 1) + self.late_instances)


def mean_load(application: Application, machine: Overheads) -> float:
    """Of the CPU that has most to do, overheads included; what may run on several counts as if it
    had one."""
    each_cpu = _by_cpus(application, machine).values()
    loads = [sum(work.rate * work.demand_s for work in works) for works in each_cpu]
    return max(loads, default=0.0) + machine.background_ns / 1e6


def held_back(application: Application, machine: Overheads) -> str:
    """What bounds are conditional on when the kernel may hold its threads back; otherwise empty."""
    if not machine.is_held_back:
        return ""
    background = machine.background_ns / 1e6
    if all(
        find_busiest_second(works, background, machine.rt_share) <= machine.rt_share
        for works in _by_cpus(application, machine).values()
    ):
        return ""
    load = mean_load(application, machine)
    return (
        "the kernel does not hold back real-time threads that may take more than "
        f"{100 * machine.rt_share:.1f} % of a second of a CPU, as these may with {100 * load:.1f} "
        "% in the mean (sysctl -w kernel.sched_rt_runtime_us=-1; from Linux 6.12 on the fair "
        "server, too)"
    )


def find_busiest_second(works: Sequence[Work], background: float, limit: float) -> float:
    """The largest share of a second that the threads of one CPU may take. A result of `limit` or
    less may be too small, but the true one is not above `limit` either.

    Let h(x) be the work released within x from a time at which the CPU had nothing to do, less x.
    What runs in the second from d on was released before some x in it, or runs after x: at most
    h(x) + 1 s, so at most the least of these for x from d to d + 1 s; and of all d the largest is
    looked for. (The demand is that of Baruah, Rosier and Howell, "Algorithms and complexity
    concerning the preemptive scheduling of periodic, real-time tasks on one processor", 1990.) What
    follows on a callback counts as released with the first of its chain.
    """
    load = background + sum(work.rate * work.demand_s for work in works)
    if load >= limit:
        return 1.0 if works else load
    # The work is at most `once` + `load` * x, so no second that begins later is above the limit.
    once = sum(
        work.demand_s * (1 + work.late_instances + work.jitter_s * work.rate) for work in works
    )
    last = (once + PERIOD_S * (1 - limit)) / (1 - load)
    if sum((last + PERIOD_S) * work.rate for work in works) > MOST_RELEASES:
        return 1.0

    def less_than_released(x: float) -> float:
        return sum(work.before(x) for work in works) - (1 - background) * x

    # h falls but where something is released, so its least values are right before that.
    places = sorted({0.0, *_releases(works, last + PERIOD_S)})
    least = [less_than_released(x) for x in places]
    most = 0.0
    # Places in the second from one on that are less than all later ones in it.
    within: deque[int] = deque()
    end = 1
    for number, begin in enumerate(places):
        if begin > last:
            break
        while end < len(places) and places[end] <= begin + PERIOD_S:
            while within and least[within[-1]] >= least[end]:
                within.pop()
            within.append(end)
            end += 1
        while within and within[0] <= number:
            within.popleft()
        found = less_than_released(begin + PERIOD_S)
        if within:
            found = min(found, least[within[0]])
        most = max(most, found + PERIOD_S)
    return min(most / PERIOD_S, 1.0)


def _releases(works: Sequence[Work], last: float) -> Iterator[float]:
    """How long after one release of all there is another, up to `last` seconds."""
    for rate, jitter_s in {(work.rate, work.jitter_s) for work in works if work.rate > 0}:
        for number in range(1, math.floor((last + jitter_s) * rate) + 1):
            if (place := number / rate - jitter_s) > 0:
                yield place


def _by_cpus(application: Application, machine: Overheads) -> dict[Cpus, list[Work]]:
    """What may run on several CPUs counts as if it had one. Works that differ in nothing but their
    demand are one."""
    each_ns = machine.dispatch_ns + machine.scheduler_ns + machine.polling_ns
    cpus = _cpus(application)
    before = _all_before(application)
    found: defaultdict[tuple[Cpus, float, int, float], float] = defaultdict(float)
    each_callback = zip(application.callbacks, application.rates(), strict=True)
    for index, (callback, rate) in enumerate(each_callback):
        is_source = callback.kind in SOURCES
        # While a message is on its way the CPU may have nothing to do.
        hop_ns = 0 if is_source else machine.hop_ns
        seconds = (callback.wcet_ns + each_ns + hop_ns) / 1e9
        sources = sum(application.callbacks[each].kind in SOURCES for each in before[index])
        late = max(sources - 1, 0) + (callback.kind == "sync")
        if any(cpus[each] != cpus[index] for each in before[index]):
            late += _most_delayed(application, index, rate)
        jitter_s = machine.timer_lateness_ns / 1e9
        found[cpus[index], rate, late, jitter_s] += seconds
    result: defaultdict[Cpus, list[Work]] = defaultdict(list)
    for (where, rate, late, jitter_s), seconds in found.items():
        result[where].append(Work(rate, seconds, late, jitter_s))
    return dict(result)


def _cpus(application: Application) -> list[Cpus]:
    """Of each callback."""
    return [
        tuple(application.executors[application.executor_of(index)].cpus)
        for index in range(len(application.callbacks))
    ]


def _all_before(application: Application) -> list[set[int]]:
    """Of each callback those whose messages may release it, also through others."""
    callbacks = application.callbacks
    direct: list[set[int]] = [
        {n for n, other in enumerate(callbacks) if set(other.publishes) & set(own.inputs)}
        for own in callbacks
    ]
    for chain in application.chains:  # also through services
        for place, index in enumerate(chain.callbacks[1:]):
            direct[index].add(chain.callbacks[place])
    result = []
    for index in range(len(callbacks)):
        found: set[int] = set()
        left = [index]
        while left:
            new = direct[left.pop()] - found
            found |= new
            left += new
        result.append(found)
    return result


def _most_delayed(application: Application, index: int, rate: float) -> int:
    """Releases of a callback that other CPUs may delay until the next one: a chain that keeps its
    deadline is delayed by no more than that."""
    deadlines = [chain.deadline_ns for chain in application.chains if index in chain.callbacks]
    longest_ns = max(deadlines or [chain.deadline_ns for chain in application.chains], default=0)
    return max(1, math.ceil(longest_ns / 1e9 * rate - 1e-9))
