# SPDX-License-Identifier: Apache-2.0
"""What the study found: tables for the terminal, and one HTML page with the histograms."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rclrt_timer_study.histogram import Panel, side_by_side
from rclrt_timer_study.inheritance import MAIN, OF_INIT, OF_NODE
from rclrt_timer_study.matrix import PUBLISHED_THREADS, RASPBERRY_PI
from rclrt_timer_study.measured import Measured

STYLE = """
body { margin: 0; background: #f6f7f9; color: #16202b; font: 15px/1.5 "Inter", "Segoe UI",
  "Liberation Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1000px; margin: 0 auto; padding: 32px 24px 48px; }
h1 { font-size: 28px; margin: 0 0 4px; } h2 { font-size: 20px; margin: 36px 0 8px; }
.note { color: #586574; font-size: 13px; } .wrong { color: #b5442f; font-weight: 600; }
figure { margin: 12px 0; padding: 12px; background: #fff; border: 1px solid #d9dee5; }
figure svg { max-width: 100%; height: auto; display: block; }
table { border-collapse: collapse; background: #fff; border: 1px solid #d9dee5; }
th, td { padding: 4px 10px; border-bottom: 1px solid #e8ebef; text-align: left; }
"""
_POLICY = {"init": "before init", "node": "between init and node", "loop": "after the node"}
THREADS = ("middleware", "program", "policy set", "main", "init", "node", "threads", "as stated")
LATENCIES = ("middleware", "latency of", "children", "n", "min", "median", "mean", "p99", "max",
             "1 ms or longer", "since rcl's call, mean", "published")  # fmt: skip

Rows = list[tuple[str, ...]]


@dataclass(frozen=True)
class Study:
    """All runs, and under which conditions they ran."""

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
    """What must come out is in parentheses where it did not."""
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
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode("ascii")
    policy = html.escape(f"default-src 'none'; style-src 'sha256-{digest}'")
    return f"""<!DOCTYPE html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Timers beside the threads of ROS</title>
<style>{STYLE}</style>
</head>
<body><main>
{chr(10).join(_body(study, pictures))}
</main></body>
</html>
"""


def _body(study: Study, pictures: dict[str, str]) -> Iterator[str]:
    yield "<h1>Timers beside the threads of ROS</h1>"
    yield f'<p class="note">{html.escape(study.conditions)}</p>'
    kind = "" if study.as_stated else ' class="wrong"'
    yield f"<p{kind}>{html.escape(study.verdict()[:1].upper() + study.verdict()[1:])}.</p>"
    for failure in study.failures:
        yield f'<p class="wrong">{html.escape(failure)}</p>'
    yield "<h2>Which threads are real-time</h2>"
    yield "<p>As /proc said while the loop ran. A thread inherits the policy of the one that "
    yield "starts it, unless it is given another.</p>"
    yield html_table(THREADS, thread_rows(study))
    yield f'<p class="note">Published: {html.escape(PUBLISHED_THREADS)}.</p>'
    yield "<h2>Latencies in µs</h2>"
    yield "<p>From the nominal release to the first instruction after the wake-up, or of the "
    yield "callback. Beside it, of callbacks, the time since rcl's call, which the study took: it "
    yield "leaves out how late rcl was.</p>"
    yield html_table(LATENCIES, latency_rows(study))
    yield f'<p class="note">Published: {html.escape(RASPBERRY_PI)}.</p>'
    for name, svg in pictures.items():
        what = "Timer callbacks" if name.startswith("callback") else "Wake-ups of a sleep"
        yield f"<h2>{html.escape(what)}, {html.escape(name.partition('rmw_')[2])}</h2>"
        yield f"<figure>{svg}</figure>"


def html_table(heads: Sequence[str], rows: Rows) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
