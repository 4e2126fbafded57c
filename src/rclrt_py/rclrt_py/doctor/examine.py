# SPDX-License-Identifier: Apache-2.0
"""All checks in the order of the report: the most frequent blockers come first."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from pathlib import Path

from rclrt_py.doctor import checks, clock, limits, preemption, privileges, ros, tuning
from rclrt_py.doctor.checks import Finding
from rclrt_py.doctor.login import this_login
from rclrt_py.processes.realtime import RTPRIO


def examine(root: Path, environment: Mapping[str, str]) -> list[Finding]:
    """Runs all checks. `root` is /, except in tests."""
    memory_limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    login = this_login()
    highest = privileges.highest_fifo()
    why = None if highest == RTPRIO else privileges.explained(environment)
    return [
        privileges.scheduling(highest, login, why),
        privileges.memory(memory_limit, root, login),
        limits.limits(root, login),
        tuning.cgroup(root),
        checks.throttling(root),
        checks.kernel(root),
        preemption.preemption(root),
        checks.virtualised(root),
        checks.governor(root),
        privileges.idle_states(root),
        tuning.deep_idle(root),
        checks.isolation(root),
        tuning.tick(root),
        tuning.rcu(root),
        tuning.interrupts(root),
        tuning.services(root),
        tuning.huge_pages(root),
        checks.smt(root),
        checks.clocksource(root),
        clock.host_clock(),
        ros.distribution(environment),
        ros.middleware(environment),
        ros.runner(environment),
    ]
