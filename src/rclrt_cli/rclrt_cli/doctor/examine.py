# SPDX-License-Identifier: Apache-2.0
"""All checks in the order of the report: what blocks most often comes first."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from pathlib import Path

from rclrt_cli.doctor import checks, privileges, ros
from rclrt_cli.doctor.checks import Finding


def examine(root: Path, environment: Mapping[str, str]) -> list[Finding]:
    """`root` is / but in tests."""
    memory_limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return [
        privileges.scheduling(privileges.fifo_permitted()),
        privileges.memory(memory_limit, root),
        checks.throttling(root),
        checks.kernel(root),
        checks.virtualised(root),
        checks.governor(root),
        privileges.idle_states(root),
        checks.isolation(root),
        checks.smt(root),
        checks.clocksource(root),
        ros.distribution(environment),
        ros.middleware(environment),
        ros.runner(environment),
    ]
