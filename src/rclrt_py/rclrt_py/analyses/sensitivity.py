# SPDX-License-Identifier: Apache-2.0
"""How far each time can change alone before a deadline is no longer proved or conditional."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

from rclrt_py.native import analysis
from rclrt_py.runs.application import interval_ns

if TYPE_CHECKING:
    from rclrt_analysis import Machine, Margin, Sensitivity, TaskFile
    from rclrt_model import Application

MILLION = 1_000_000
Number = Callable[[int], int | float | None]


class MarginResult(TypedDict):
    """How far one time can change alone. `limit` is None if no value of it is enough."""

    id: str
    stated: int | float | None
    limit: int | float | None
    factor: float | None
    unlimited: bool
    conditional: bool
    """With the limit, a deadline holds only under a condition."""


class SensitivityResult(TypedDict):
    """The part of an analysis that `--sensitivity` adds. Times are in `unit`."""

    unit: str
    factor: float | None
    factor_conditional: bool
    wcets: list[MarginResult]
    periods: list[MarginResult]
    monotone: bool


def of_chains(application: Application, executor: str, machine: Machine) -> SensitivityResult:
    """Computes the margins of each WCET, each timer's period or event's interval, and all WCETs."""
    found = analysis().sensitivity(application, executor, machine)
    ids = [callback.id for callback in application.callbacks]
    wcets = [callback.wcet_ns for callback in application.callbacks]
    periods = [interval_ns(callback) for callback in application.callbacks]
    return _document(found, "ms", (ids, wcets, periods), lambda time_ns: time_ns / 1e6)


def of_tasks(file: TaskFile, number: Callable[[int, int], int | float | None]) -> SensitivityResult:
    """Computes the margins of each task's c and t, and of all c together."""
    found = analysis().task_sensitivity(file.tasks, file.policy)
    ids = [task.id for task in file.tasks]
    wcets = [task.wcet for task in file.tasks]
    periods: list[int | None] = [task.period for task in file.tasks]
    return _document(
        found, "units", (ids, wcets, periods), lambda ticks: number(ticks, file.decimals)
    )


def _document(
    found: Sensitivity,
    unit: str,
    stated: tuple[list[str], list[int], list[int | None]],
    number: Number,
) -> SensitivityResult:
    ids, wcets, periods = stated
    timers = [index for index, period in enumerate(periods) if period is not None]
    return {
        "unit": unit,
        "factor": _factor(found.factor.limit, MILLION),
        "factor_conditional": found.factor.conditional,
        "wcets": [
            _margin(name, wcet, margin, number)
            for name, wcet, margin in zip(ids, wcets, found.wcets, strict=True)
        ],
        "periods": [
            _margin(ids[index], periods[index] or 0, found.periods[index], number)
            for index in timers
        ],
        "monotone": all(margin.monotone for margin in (found.factor, *found.wcets, *found.periods)),
    }


def _margin(name: str, stated: int, margin: Margin, number: Number) -> MarginResult:
    limit = None if margin.unlimited else margin.limit
    return {
        "id": name,
        "stated": number(stated),
        "limit": None if limit is None else number(limit),
        "factor": None if limit is None else _factor(limit, stated),
        "unlimited": margin.unlimited,
        "conditional": margin.conditional,
    }


def _factor(limit: int | None, stated: int) -> float | None:
    return None if limit is None or stated == 0 else limit / stated
