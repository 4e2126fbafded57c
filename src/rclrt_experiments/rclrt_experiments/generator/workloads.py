# SPDX-License-Identifier: Apache-2.0
"""Workloads for the callbacks: thesis, section 6.2.5."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from rclrt_py.files.json_reader import JsonValue

from rclrt_experiments.generator.application import Assigned, GeneratedApplication, draw_application
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.generator.timing import ChainTime, Infeasible

STATISTICS = ("mean", "max", "p99", "p50", "min")
NAME = re.compile(r"[A-Za-z]\w{0,63}", re.ASCII)
MOST_US = 1e9
MOST_ITERATIONS = 1_000_000_000
MOST_TIMINGS = 4
"""The first times that are drawn, and three more."""


def read_workloads(document: JsonValue, statistic: str) -> dict[str, int]:
    """Reads the time of one iteration of each workload. Returns nanoseconds by name. The document
    is a file of `rclrt workloads calibrate`, of which `statistic` (one of STATISTICS) is used, or
    the thesis's file, [{"Name": ..., "Execution_time_us": ...}]. Throws BadInput with the place."""
    times = {}
    for name, time in _timed(document, statistic):
        if not NAME.fullmatch(name.text()) or "__" in name.text():
            name.fail("a name of letters, digits and single '_'")
        if not 0 < time.number() <= MOST_US:
            time.fail(f"a number of microseconds above 0, up to {MOST_US:g}")
        if name.text() in times:
            name.fail("each workload once")
        times[name.text()] = max(1, round(time.number() * 1000))
    if not times:
        document.fail("at least one workload")
    return times


def _timed(document: JsonValue, statistic: str) -> Iterator[tuple[JsonValue, JsonValue]]:
    if isinstance(document.value, list):
        for item in document.items():
            yield item.get("Name"), item.get("Execution_time_us")
        return
    if document.get("kind").text() != "workloads":
        document.get("kind").fail("'workloads', as rclrt workloads calibrate writes")
    if document.get("rclrt").integer() != 1:
        document.get("rclrt").fail("format version 1")
    for item in document.get("workloads").items():
        yield item.get("name"), item.get(f"{statistic}_us")


def draw_with_workloads(
    rules: Rules, times_ns: Mapping[str, int], timing: list[ChainTime] | None = None
) -> GeneratedApplication:
    """Draws an application by the rules. If `times_ns` is not empty, its callbacks run these
    workloads, and the execution times are drawn again, up to MOST_TIMINGS times, if a callback has
    less time than any workload takes. `timing` replaces the drawn times. Throws Infeasible."""
    for attempt in range(MOST_TIMINGS):
        application = draw_application(rules, timing, attempt)
        try:
            return with_workloads(application, times_ns) if times_ns else application
        except Infeasible:
            if timing is not None or attempt + 1 == MOST_TIMINGS:
                raise
    raise AssertionError("unreachable")


def with_workloads(
    application: GeneratedApplication, times_ns: Mapping[str, int]
) -> GeneratedApplication:
    """Returns the application with a workload for each callback: the one that fills the callback's
    execution time best. Throws Infeasible if a callback has less time than any workload takes."""
    assigned = {}
    for callback, execution_ns in application.execution_ns.items():
        if execution_ns == 0:
            continue  # a sync
        found = best(execution_ns, times_ns)
        if found is None:
            raise Infeasible(
                f"{application.id_of(callback)} has {execution_ns / 1000:g} us, less than any "
                f"workload takes ({min(times_ns.values()) / 1000:g} us); raise the utilisation or "
                "the periods, or shorten the chains"
            )
        assigned[callback] = found
    return replace(application, workloads=assigned)


def best(execution_ns: int, times_ns: Mapping[str, int]) -> Assigned | None:
    """Returns the workload that leaves the least of `execution_ns` unused, with its number of
    iterations; among equal ones, the first by name. None: each workload takes longer than
    `execution_ns`, or would need more than MOST_ITERATIONS."""
    fitting = [
        (execution_ns % time_ns, name, execution_ns // time_ns)
        for name, time_ns in times_ns.items()
        if time_ns <= execution_ns and execution_ns // time_ns <= MOST_ITERATIONS
    ]
    if not fitting:
        return None
    _, name, iterations = min(fitting)
    return Assigned(name, iterations)
