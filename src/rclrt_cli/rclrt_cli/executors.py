# SPDX-License-Identifier: Apache-2.0
"""The executors the runner offers. The words shown to a reader come from each results.json."""

from __future__ import annotations

from rclrt_cli.errors import BadInput, did_you_mean

BASELINE = "wait_set"
COMPARED = (BASELINE, "producer_consumer", "thread_dispatch", "preemptive")
"""Those that a comparison takes unless told otherwise: they can all use the same CPUs."""
EXECUTORS = (*COMPARED, "edf")
FOCUS = "preemptive"
"""The executor a comparison's headline speaks of when it took part."""


def check_executor(name: str) -> str:
    """The name itself when the runner offers it."""
    if name in EXECUTORS:
        return name
    raise BadInput(
        f"unknown executor '{name}'{did_you_mean(name, EXECUTORS)}\n"
        f"  expected one of: {', '.join(EXECUTORS)}"
    )


def parse_executors(text: str) -> tuple[str, ...]:
    """A comma-separated list, each executor once."""
    names = tuple(check_executor(name.strip()) for name in text.split(","))
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"executor '{name}' is listed more than once; list each once")
    return names
