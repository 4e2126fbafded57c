# SPDX-License-Identifier: Apache-2.0
"""The kinds of executors, as in the registry of rclrt_model.

The module `executor_table` is a copy of the registry, so that reports need no native module.
Reports show the names that each results.json states.
"""

from __future__ import annotations

import argparse

from rclrt_py import executor_table
from rclrt_py.errors import BadInput, did_you_mean
from rclrt_py.executor_kind import ExecutorKind
from rclrt_py.native import model

KINDS = {kind.name: kind for kind in executor_table.KINDS}
"""The kinds that run callbacks, by name."""
EXECUTORS = tuple(KINDS)
WITH_LEVELS = tuple(name for name, kind in KINDS.items() if kind.has_levels)
ASSIGNABLE = tuple(name for name, kind in KINDS.items() if kind.has_levels or kind.orders_executors)
"""The kinds for which `rclrt assign` chooses CPUs and priorities."""
BASELINE = "wait_set"
COMPARED = ("wait_set", "producer_consumer", "thread_dispatch", "preemptive")
"""The executors that a comparison uses by default."""
ALL = "all"
"""Means every executor, where a list of executors is expected."""
FOCUS = "preemptive"
"""The executor in the headline of a comparison, if it took part."""
OPTIONS_HELP = f"options follow behind colons: {executor_table.OPTIONS_HELP}"


def kind_name(name: str) -> str:
    """Returns the name without its options."""
    return name.partition(":")[0]


def kind_of(name: str) -> ExecutorKind:
    """Returns the kind of the executor with this name, which may have options after a colon. If the
    registry does not have this kind, returns a kind without traits."""
    return KINDS.get(kind_name(name), ExecutorKind(name))


def folder_name(name: str) -> str:
    """Returns the name of the folder for the results of this executor; `executor_of` is the
    inverse. The colon is replaced because some tools read the text before a colon as the name of a
    machine."""
    return name.replace(":", ",")


def executor_of(folder: str) -> str:
    """Returns the executor that has its rounds in a folder of this name."""
    return folder.replace(",", ":")


def check_executor(name: str) -> str:
    """Returns the executor's name in its normal form, with the options in the order of
    results.json. Throws BadInput if the runner has no executor of this name."""
    kind = kind_name(name)
    if kind not in EXECUTORS:
        raise BadInput(
            f"unknown executor '{kind}'{did_you_mean(kind, EXECUTORS)}\n"
            f"  expected one of: {', '.join(EXECUTORS)}"
        )
    if kind == name:
        return name
    try:
        canonical: str = model().canonical_executor(name)
    except ValueError as error:
        raise BadInput(str(error)) from None
    return canonical


def executor_argument(text: str) -> str:
    """Parses the name of an executor for argparse."""
    try:
        return check_executor(text)
    except BadInput as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parse_executors(text: str) -> tuple[str, ...]:
    """Parses a comma-separated list with each executor once, or `all`."""
    if text.strip() == ALL:
        return EXECUTORS
    names = tuple(check_executor(name.strip()) for name in text.split(","))
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"executor '{name}' is listed more than once; list each once")
    return names
