# SPDX-License-Identifier: Apache-2.0
"""The table of observations beside their bounds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rclrt_py.report.bound_reasons import bound_reasons
from rclrt_py.runs.results import ChainPrediction, Results
from rclrt_py.terminal.table import LINE_WIDTH, Columns

TITLE = "observed against bound"
HEADS = ("bound ms", "observed ms", "share", "verdict", "above (by host)")
WIDTHS = (12, 13, 9, 13, 17)


def bound_lines(executors: Sequence[Results]) -> Iterator[str]:
    """Yields the lines of the table that compares bounds with observations: one per executor and
    chain with a bound. For a chain above its bound, more lines show the time until each callback on
    its path. Then come the reasons why deadlines are not proved. A last line warns if the runs had
    no real-time scheduling, because no bound holds then. Yields nothing if there are no bounds."""
    shown = [
        (results, chain, chain.predicted)
        for results in executors
        for chain in results.chains
        if chain.predicted
    ]
    if not shown:
        return
    names = [_name(results, chain.id, executors) for results, chain, _ in shown]
    sampling = list(_sampling_rows(executors))
    steps = [each.steps[:-1] if _is_exceeded(each) else () for _, _, each in shown]
    until = [f"  until {step.callback}" for each in steps for step in each]
    columns = Columns.named([TITLE, *names, *until, *(name for name, *_ in sampling)], *WIDTHS)
    yield ""
    yield columns.line(TITLE, *HEADS)
    for name, (_, chain, predicted), way in zip(names, shown, steps, strict=True):
        bound, worst = predicted.bound_ms, chain.response.worst if chain.response else None
        above = _above(predicted.exceeded, predicted.exceeded_host)
        yield columns.line(name, *_times(bound, worst), predicted.verdict, above)
        for step in way:
            yield columns.line(f"  until {step.callback}", *_times(step.bound_ms, step.worst_ms))
        for why in predicted.exceeded_why:
            yield f"  {why}"
    for name, bound, worst, verdict, above in sampling:
        yield columns.line(name, *_times(bound, worst), verdict, above)
    yield from _reason_lines(executors)
    if not all(results.context["realtime"] for results in executors):
        yield "Without real-time scheduling no bound holds: no observation is judged by one."


def _reason_lines(executors: Sequence[Results]) -> Iterator[str]:
    reasons = bound_reasons(executors)
    if reasons:
        yield "Why deadlines are not proved:"
    for reason, where in reasons:
        yield from textwrap.wrap(
            f"{where}: {reason}.",
            LINE_WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )


def _is_exceeded(predicted: ChainPrediction) -> bool:
    return predicted.exceeded > 0 or any(
        step.bound_ms is not None and step.worst_ms is not None and step.worst_ms > step.bound_ms
        for step in predicted.steps
    )


def _name(results: Results, name: str, executors: Sequence[Results]) -> str:
    return name if len(executors) == 1 else f"{name}, {results.executor}"


def _sampling_rows(
    executors: Sequence[Results],
) -> Iterator[tuple[str, float | None, float | None, str, str]]:
    """Yields, for the reaction time and the data age of each chain that samples: its name, the
    bound, the longest observation, the verdict and the number of observations above the bound."""
    for results in executors:
        for chain in results.cause_effect_chains:
            if not chain.predicted:
                continue
            own = chain.predicted
            reactions = _above(own.above_reaction_bound, own.reaction_by_host)
            ages = _above(own.above_age_bound, own.age_by_host)
            for what, bound, times, above in (
                ("reaction", own.reaction_bound_ms, chain.reaction, reactions),
                ("data age", own.age_bound_ms, chain.age, ages),
            ):
                worst = times.worst if times else None
                name = _name(results, f"{chain.id}, {what}", executors)
                yield name, bound, worst, own.verdict, above


def _above(number: int, by_host: int) -> str:
    return f"{number} ({by_host})" if number else "0"


def _times(bound: float | None, worst: float | None) -> tuple[str, str, str]:
    return (
        "-" if bound is None else f"{bound:.3f}",
        "-" if worst is None else f"{worst:.3f}",
        "-" if bound is None or worst is None else f"{worst / bound:.2f}",
    )
