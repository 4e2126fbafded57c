# SPDX-License-Identifier: Apache-2.0
"""All checks in the order of the report: what blocks most often comes first."""

from __future__ import annotations

import grp
import os
import pwd
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path

from rclrt_cli.doctor import checks, limits, privileges, ros, tuning
from rclrt_cli.doctor.checks import Finding
from rclrt_cli.doctor.limits import Login


def examine(root: Path, environment: Mapping[str, str]) -> list[Finding]:
    """`root` is / but in tests."""
    memory_limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return [
        privileges.scheduling(privileges.fifo_permitted()),
        privileges.memory(memory_limit, root),
        limits.limits(root, this_login()),
        tuning.cgroup(root),
        checks.throttling(root),
        checks.kernel(root),
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
        ros.distribution(environment),
        ros.middleware(environment),
        ros.runner(environment),
    ]


def this_login() -> Login:
    """Who runs this process."""
    number = os.geteuid()
    try:
        user = pwd.getpwuid(number).pw_name
    except KeyError:  # a container may have no entry
        user = str(number)
    return Login(user, sorted(_group_names()), root=number == 0)


def _group_names() -> Iterator[str]:
    for number in {os.getegid(), *os.getgroups()}:
        try:
            yield grp.getgrgid(number).gr_name
        except KeyError:
            continue
