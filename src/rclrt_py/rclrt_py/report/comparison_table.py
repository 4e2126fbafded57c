# SPDX-License-Identifier: Apache-2.0
"""The table on the terminal: one block per chain, one line per executor, at most 120 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.runs.event_times import release_text
from rclrt_py.runs.hosts import host_lines
from rclrt_py.runs.results import ChainResult, Results
from rclrt_py.runs.streamed import stream_notes
from rclrt_py.terminal.table import LINE_WIDTH, Columns, Paint
from rclrt_py.text import NO_DEADLINE_MS, exact, number, ratio, shorten

NAME_WIDTH = 27
COLUMNS = (
    ("released", "", 9),
    ("completed", "", 10),
    ("missed", "(by host)", 12),
    ("best", "ms", 8),
    ("median", "ms", 8),
    ("p99", "ms", 8),
    ("worst", "ms", 8),
    ("worst /", "deadline", 9),
    ("jitter", "ms", 8),
)
CAUSE_EFFECT_COLUMNS = (
    ("", "", 10),
    ("values", "used", 14),
    ("outputs", "", 9),
    ("best", "ms", 9),
    ("median", "ms", 9),
    ("p99", "ms", 9),
    ("worst", "ms", 9),
    ("at most", "ms", 9),
    ("above", "", 7),
)
RATIO_COLUMNS = (("p99", "ratio", 6), ("jitter", "ratio", 7))


def print_table(comparison: Comparison, stream: TextIO, environment: Mapping[str, str]) -> None:
    """Writes the table; colour only on a terminal and never with NO_COLOR."""
    paint = Paint.of(stream, environment)
    for line in table_lines(comparison, paint):
        print(line, file=stream)


def table_lines(comparison: Comparison, paint: Paint) -> Iterator[str]:
    baseline = comparison.baseline if len(comparison.executors) > 1 else None
    titles, units, widths = zip(*COLUMNS, *(RATIO_COLUMNS if baseline else ()), strict=True)
    columns = Columns(NAME_WIDTH, *widths)
    yield paint.dim(columns.line("executor", *titles))
    yield paint.dim(columns.line("", *units))
    for chain in in_report_order(comparison):
        yield ""
        is_due = chain.deadline_ms < NO_DEADLINE_MS
        due = f"deadline {exact(chain.deadline_ms)} ms" if is_due else "no deadline"
        yield paint.bold(shorten(chain.id, 40)) + (
            f"   priority {chain.priority}, {release_text(chain.period_ms, chain.event)}, {due}"
        )
        digits = _digits(comparison, chain.id)
        for results in comparison.executors:
            found = results.chain(chain.id)
            if found:
                reference = baseline.chain(chain.id) if baseline else None
                yield columns.line(*_cells(results, found, reference, digits, paint))
                if found.unmatched:
                    yield f"  unmatched {found.unmatched}, due {found.due}"
                if found.over_hosts and found.over_hosts.error_ms:
                    yield f"  {found.over_hosts.text}"
    yield from _cause_effect_lines(comparison, paint)
    yield ""
    yield from _notes(comparison, baseline)


def _cause_effect_lines(comparison: Comparison, paint: Paint) -> Iterator[str]:
    """Yields a block per cause-effect chain: for each executor a line of its reaction times and a
    line of the ages of its data."""
    columns = Columns(NAME_WIDTH, *(width for _, _, width in CAUSE_EFFECT_COLUMNS))
    for index, chain in enumerate(comparison.executors[0].cause_effect_chains):
        if not index:
            yield ""
            titles, units, _ = zip(*CAUSE_EFFECT_COLUMNS, strict=True)
            yield paint.dim(columns.line("cause-effect chain", *titles))
            yield paint.dim(columns.line("", *units))
        yield ""
        segments = shorten(" > ".join(chain.segments), LINE_WIDTH - 43)
        yield paint.bold(shorten(chain.id, 40)) + f"   {segments}"
        for results in comparison.executors:
            found = results.cause_effect_chains[index]
            label = shorten(results.executor_label, NAME_WIDTH)
            for kind, times, limit, missed in (
                ("reaction", found.reaction, found.max_reaction_ms, found.missed_reaction),
                ("data age", found.age, found.max_age_ms, found.missed_age),
            ):
                values = [times.best, times.p50, times.p99, times.worst] if times else [None] * 4
                yield columns.line(
                    label,
                    kind,
                    f"{found.distinct} of {found.inputs}",
                    str(found.outputs),
                    *(number(value, 3) for value in values),
                    exact(limit),
                    paint.red(str(missed)) if missed else str(missed),
                )
                label = ""
            if found.error_ms:
                unknown = (found.unknown_reaction or 0) + (found.unknown_age or 0)
                text = f"  times ±{found.error_ms:.3f} ms (clocks of the hosts)"
                yield text + (f"; {unknown} limits met or missed: unknown" if unknown else "")
        yield from _longest_wait(comparison, index)


def _longest_wait(comparison: Comparison, index: int) -> Iterator[str]:
    """Yields a line with the longest wait for a callback in the worst reaction times and ages of
    one cause-effect chain, over all executors."""
    waits = [
        (wait, what, results)
        for results in comparison.executors
        for found in (results.cause_effect_chains[index],)
        for what, way in (("data age", found.worst_age), ("reaction", found.worst_reaction))
        if way and (wait := way.longest_wait)
    ]
    if waits:
        wait, what, results = max(waits, key=lambda each: each[0].time_ms)
        under = f", {results.executor_label}" if len(comparison.executors) > 1 else ""
        bound = "" if wait.bound_ms is None else f" ({exact(wait.bound_ms)} in the bound)"
        text = f"longest wait: {wait.time_ms:.3f} ms{bound} {wait.text}; worst {what}{under}"
        yield "  " + shorten(text, LINE_WIDTH - 2)


def in_report_order(comparison: Comparison) -> list[ChainResult]:
    """Returns the chains in the order of the report."""
    return comparison.executors[0].in_report_order(comparison.replayed)


def _cells(
    results: Results, chain: ChainResult, reference: ChainResult | None, digits: int, paint: Paint
) -> Iterator[str]:
    response = chain.response
    missed = f"{chain.missed} ({chain.missed_host})" if chain.missed_host else str(chain.missed)
    yield shorten(results.executor_label, NAME_WIDTH)
    yield str(chain.released)
    yield str(chain.completed)
    yield paint.red(missed) if chain.missed_own else missed
    values = [response.best, response.p50, response.p99, response.worst] if response else [None] * 4
    yield from (number(value, digits) for value in values)
    yield number(chain.normalised_worst, 3)
    yield number(_jitter(chain), digits)
    if reference:
        yield ratio(_p99(chain), _p99(reference))
        yield ratio(_jitter(chain), _jitter(reference))


def _notes(comparison: Comparison, baseline: Results | None) -> Iterator[str]:
    context = comparison.context
    yield (
        "Response times start at the nominal release of the chain's timer, or the release of its "
        "event."
    )
    if baseline:
        yield f"Ratios are to {baseline.executor_label} in the same comparison; below 1 is better."
    if any(chain.unmatched for results in comparison.executors for chain in results.chains):
        yield (
            "Unmatched: a synchroniser took the message in and put a newer one in its set. It is "
            "no miss."
        )
    stalls = context["host_stalls"]
    if stalls["count"]:
        yield (
            f"The machine stood still {stalls['count']} times, {stalls['total_ms']:.1f} ms in all; "
            "misses explained by that are in parentheses."
        )
    for results in comparison.executors:
        for what, text in host_lines(results.hosts):
            yield from textwrap.wrap(f"{what}: {text}.", LINE_WIDTH)
    if text := held_back_text(context):
        yield from textwrap.wrap(text + " No miss is excused by that.", LINE_WIDTH)
    if not context["realtime"]:
        reason = shorten(context["realtime_reason"], 1000)
        yield from textwrap.wrap(f"Not real-time: {reason}", LINE_WIDTH)
    if context["records_dropped"]:
        yield f"{context['records_dropped']} records were dropped: the figures are incomplete."
    if foreign := context.get("foreign_messages", 0):
        yield (
            f"{foreign} messages of other programs came on the application's topics and were "
            "ignored: run in a domain of its own (set ROS_DOMAIN_ID)."
        )
    for results in comparison.executors:
        for note in stream_notes(results.streamed, results.ended, results.duration_s):
            yield from textwrap.wrap(f"{results.executor}: {note}.", LINE_WIDTH)
    for missing in comparison.missing:
        yield f"Missing: {missing.executor}, round {missing.round} did not complete."


def held_back_text(context: dict[str, Any]) -> str:
    """Returns a sentence that states how often and how long the kernel gave no CPU to ready
    real-time threads, and why. Empty if it never did."""
    held_back = context.get("held_back")
    if not held_back or not held_back["count"]:
        return ""
    limit = held_back["limit"]
    cause = (
        f"they may have {limit}"
        if limit
        else "a thread above the probe ran (SCHED_DEADLINE, or 99)"
    )
    return (
        f"The kernel held real-time threads back {held_back['count']} times, "
        f"{held_back['total_ms']:.1f} ms in all: {cause}."
    )


def _digits(comparison: Comparison, chain_id: str) -> int:
    """Returns the number of decimals for the milliseconds of one chain: three if the longest
    response time is below 1 s, fewer if it is longer, so that the columns do not get wider."""
    found = [results.chain(chain_id) for results in comparison.executors]
    worst = max((chain.response.worst for chain in found if chain and chain.response), default=0.0)
    return 3 if worst < 1e3 else 2 if worst < 1e4 else 1 if worst < 1e5 else 0


def _p99(chain: ChainResult) -> float | None:
    return chain.response.p99 if chain.response else None


def _jitter(chain: ChainResult) -> float | None:
    return chain.response.jitter if chain.response else None
