# SPDX-License-Identifier: Apache-2.0
"""The results of the study: tables for the terminal, and one HTML page with the histograms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rclrt_py.pages.page import figure, heading, paragraph, plain_page, table

from rclrt_demos.timer_study.histogram import Panel, side_by_side
from rclrt_demos.timer_study.inheritance import MAIN, OF_INIT, OF_NODE
from rclrt_demos.timer_study.matrix import PUBLISHED_THREADS, RASPBERRY_PI
from rclrt_demos.timer_study.measured import Measured

TITLE = "Timers beside the threads of ROS"
_POLICY = {"init": "before init", "node": "between init and node", "loop": "after the node"}
THREADS = ("middleware", "program", "policy set", "main", "init", "node", "threads", "as stated")
LATENCIES = ("middleware", "latency of", "children", "n", "min", "median", "mean", "p99", "max",
             "1 ms or longer", "since rcl's call, mean", "published")  # fmt: skip

Rows = list[tuple[str, ...]]


@dataclass(frozen=True)
class Study:
    """All runs, and their conditions."""

    measured: Sequence[Measured]
    failures: Sequence[str]
    """Middlewares with which the programs could not run, and why."""
    conditions: str

    @property
    def realtime(self) -> bool:
        return all(each.realtime for each in self.measured)

    @property
    def as_stated(self) -> bool:
        return (
            bool(self.measured)
            and self.realtime
            and not any(each.inheritance.wrong() for each in self.measured)
        )

    def verdict(self) -> str:
        if not self.measured:
            return "nothing could be measured"
        if not self.realtime:
            problem = next(each.realtime_problem for each in self.measured if not each.realtime)
            return (
                "cannot be shown: without a real-time policy nothing can be inherited, and the "
                f"latencies are those of normal scheduling ({problem})"
            )
        if self.as_stated:
            return "threads inherit the policy of the one that starts them, as the study states"
        wrong = [text for each in self.measured for text in each.inheritance.wrong()]
        return f"the inheritance is NOT as the study states: {'; '.join(wrong)}"


def thread_rows(study: Study) -> Rows:
    """The expected result is in parentheses if the observed one differs."""
    rows: Rows = []
    for each in study.measured:
        own = each.inheritance
        cells = [
            own.summary(origin)
            + ("" if _fits(own.summary(origin), own.expected(origin))
               else f" (expected {own.expected(origin)})")
            for origin in (MAIN, OF_INIT, OF_NODE)
        ]  # fmt: skip
        counts = ", ".join(f"{step} +{count}" for step, count in own.started)
        verdict = "no" if own.wrong() else "yes"
        rows.append((
            each.rmw, each.case.program, _POLICY[each.case.policy_set_before], *cells, counts,
            verdict if each.realtime else "not shown",
        ))  # fmt: skip
    return rows


def _fits(found: str, expected: str) -> bool:
    return found.partition(" x ")[2] == expected or found == expected


def latency_rows(study: Study) -> Rows:
    """In µs."""
    rows: Rows = []
    for each in study.measured:
        figures = each.latency
        study_figure = each.since_rcl_call
        published = each.case.published_us
        rows.append((
            each.rmw, each.case.what, each.case.children, str(figures.n),
            *(f"{value:.1f}" for value in (
                figures.min, figures.p50, figures.mean, figures.p99, figures.max
            )),
            str(each.histogram.overflow),
            f"{study_figure.mean:.2f}" if study_figure else "",
            f"{published[0]} to {published[1]}" if published else "",
        ))  # fmt: skip
    return rows


PICTURES = {"wake_up": False, "callback": True}
"""The names' beginnings, and whether callbacks are drawn."""


def figures(study: Study) -> dict[str, str]:
    """SVG by name: for each middleware the wake-ups and the callbacks."""
    result = {}
    for rmw in dict.fromkeys(each.rmw for each in study.measured):
        for name, callbacks in PICTURES.items():
            panels = [
                Panel(f"{each.case.what}, {each.case.children}", each.histogram,
                      each.case.published_us)
                for each in study.measured
                if each.rmw == rmw and each.case.measures_callbacks == callbacks
                and each.case.policy_set_before != "node"
            ]  # fmt: skip
            if panels:
                result[f"{name}_{rmw}"] = side_by_side(panels)
    return result


def page(study: Study, pictures: dict[str, str]) -> str:
    """One HTML file without scripts."""
    return plain_page(TITLE, _body(study, pictures))


def _body(study: Study, pictures: dict[str, str]) -> Iterator[str]:
    yield heading(1, TITLE)
    yield paragraph(study.conditions, "note")
    verdict = study.verdict()
    kind = "" if study.as_stated else "wrong"
    yield paragraph(f"{verdict[:1].upper()}{verdict[1:]}.", kind)
    for failure in study.failures:
        yield paragraph(failure, "wrong")
    yield heading(2, "Which threads are real-time")
    yield paragraph(
        "As /proc showed while the loop ran. A thread inherits the policy of the one that starts "
        "it, unless it is given another."
    )
    yield table(THREADS, thread_rows(study))
    yield paragraph(f"Published: {PUBLISHED_THREADS}.", "note")
    yield heading(2, "Latencies in µs")
    yield paragraph(
        "From the nominal release to the first instruction after the wake-up, or of the callback. "
        "Beside it, of callbacks, the time since rcl's call, which the study took: it leaves out "
        "how late rcl was."
    )
    yield table(LATENCIES, latency_rows(study))
    yield paragraph(f"Published: {RASPBERRY_PI}.", "note")
    for name, svg in pictures.items():
        what = "Timer callbacks" if name.startswith("callback") else "Wake-ups of a sleep"
        yield heading(2, f"{what}, {name.partition('rmw_')[2]}")
        yield figure(svg)
