# SPDX-License-Identifier: Apache-2.0
"""Which stretches of the runs the Gantt chart offers."""

from __future__ import annotations

from dataclasses import dataclass

from rclrt_cli.application import ApplicationInfo
from rclrt_cli.comparison import Comparison
from rclrt_cli.csv_reader import ChainRow
from rclrt_cli.table import by_urgency

MAX_CHAINS = 6
LONGEST_HYPERPERIOD = 8
"""Hyperperiods of more than this many of the longest period are not drawn whole."""


@dataclass(frozen=True)
class Window:
    """A stretch of one round of one executor, in nanoseconds since the start of that run."""

    executor: str
    round: int
    start: int
    length: int
    chain: str | None = None
    instance: int | None = None

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True)
class Choice:
    """One entry of the chart's selection: a window per executor, all of the same length."""

    label: str
    windows: tuple[Window, ...]


def window_length(application: ApplicationInfo, comparison: Comparison) -> tuple[int, str]:
    """The length in nanoseconds, and the sentence that says what it is."""
    longest = max(
        (round(chain.period_ms * 1e6) for chain in comparison.executors[0].chains), default=0
    )
    hyperperiod = application.hyperperiod_ns
    if 0 < hyperperiod <= LONGEST_HYPERPERIOD * longest:
        return hyperperiod, f"One hyperperiod, {hyperperiod / 1e6:g} ms."
    length = 2 * longest or 1_000_000_000
    return length, (
        f"Two of the longest period, {length / 1e6:g} ms: the hyperperiod is too long to draw."
    )


def choose(comparison: Comparison, length: int) -> list[Choice]:
    """The worst window of each chain, the median one of the most urgent, and the beginning."""
    chains = by_urgency(comparison)[:MAX_CHAINS]
    choices = []
    for chain in chains:
        choices.append(_choice(comparison, chain.id, length, "worst"))
        if chain is chains[0]:
            choices.append(_choice(comparison, chain.id, length, "median"))
    choices.append(_beginning(comparison, length))
    return [choice for choice in choices if choice.windows]


def _choice(comparison: Comparison, chain: str, length: int, which: str) -> Choice:
    found: list[tuple[str, int, ChainRow]] = []
    for results in comparison.executors:
        result = results.chain(chain)
        if result is None or result.response is None:
            continue
        value = result.response.worst if which == "worst" else result.response.p50
        instance = _find(comparison, results.executor, chain, round(value * 1e6))
        if instance:
            found.append((results.executor, *instance))
    # A response that leaves its hyperperiod is shown whole, by one hyperperiod more for everybody.
    leaves = any((row.release % length) + (row.response or 0) > length for _, _, row in found)
    windows = tuple(
        Window(
            executor,
            number,
            row.release // length * length,
            2 * length if leaves else length,
            chain,
            row.instance,
        )
        for executor, number, row in found
    )
    return Choice(f"{which} response of {chain}", windows)


def _find(
    comparison: Comparison, executor: str, chain: str, response: int
) -> tuple[int, ChainRow] | None:
    """The first instance with exactly this response time, and the number of its round."""
    for run in comparison.runs[executor]:
        for row in run.chain_rows():
            if row.chain == chain and row.response == response:
                return _round(comparison, executor, run.directory.name), row
    return None


def _round(comparison: Comparison, executor: str, directory: str) -> int:
    """The number in `round-2`; 1 for a run that stands alone."""
    number = directory.removeprefix("round-")
    return int(number) if not comparison.is_single_run and number.isdigit() else 1


def _beginning(comparison: Comparison, length: int) -> Choice:
    """The second window of the first round: the first one holds the start-up."""
    windows = []
    for results in comparison.executors:
        run = comparison.runs[results.executor][0]
        start = length if run.results.duration_s * 1e9 >= 2 * length else 0
        number = _round(comparison, results.executor, run.directory.name)
        windows.append(Window(results.executor, number, start, length))
    return Choice("second hyperperiod of the first round", tuple(windows))
