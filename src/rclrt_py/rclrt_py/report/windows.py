# SPDX-License-Identifier: Apache-2.0
"""The intervals of the runs that the Gantt chart offers."""

from __future__ import annotations

from dataclasses import dataclass

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.runs.application import ApplicationInfo
from rclrt_py.runs.csv_reader import ChainRow
from rclrt_py.runs.results import Results

MAX_CHAINS = 6
LONGEST_HYPERPERIOD = 8
"""A hyperperiod of more than this many of the longest periods is not drawn whole."""


Shown = tuple[str, str]
"""A chain, and "worst" or "median"."""
Place = tuple[int, ChainRow]
"""A round, and an instance of a chain in it."""


@dataclass(frozen=True)
class Window:
    """An interval of one round of one executor, in nanoseconds since the start of that run."""

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
    """Returns the length in nanoseconds, and a sentence that explains it."""
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
    """Returns the time windows that the reader of the report can choose: one around the worst
    response of each chain, one around the median response of the most urgent chain, and one at the
    beginning of the run. The instance of a replayed counter-example comes first. `length` is in
    nanoseconds."""
    chains = [chain.id for chain in in_report_order(comparison)[:MAX_CHAINS]]
    shown = [(chain, "worst") for chain in chains]
    shown[1:1] = [(chain, "median") for chain in chains[:1]]
    found = {
        results.executor: _find(comparison, results, shown) for results in comparison.executors
    }
    choices = _counter_example(comparison, length)
    choices += [_choice(found, chain, which, length) for chain, which in shown]
    choices.append(_beginning(comparison, length))
    return [choice for choice in choices if choice.windows]


def _counter_example(comparison: Comparison, length: int) -> list[Choice]:
    """Returns the window around the instance that the run repeats, or none if it repeats none. The
    window is long enough for the instance's deadline and response, if it need not be too long."""
    replayed, results = comparison.replayed, comparison.executors[0]
    chain = results.chain(replayed.chain) if replayed else None
    if replayed is None or chain is None:
        return []
    for row in comparison.runs[results.executor][0].chain_rows():
        if (row.chain, row.instance) == (replayed.chain, replayed.instance):
            start = row.release // length * length
            lasts = max(row.response or 0, round(chain.deadline_ms * 1e6))
            count = -(-(row.release + lasts - start) // length)
            whole = length * min(count, LONGEST_HYPERPERIOD)
            window = Window(results.executor, 1, start, whole, row.chain, row.instance)
            return [Choice(f"counter-example of {row.chain}", (window,))]
    return []


def _choice(found: dict[str, dict[Shown, Place]], chain: str, which: str, length: int) -> Choice:
    places = {
        executor: instances[chain, which]
        for executor, instances in found.items()
        if (chain, which) in instances
    }
    # A response that leaves its hyperperiod is shown whole: all executors get one hyperperiod more.
    leaves = any(row.release % length + (row.response or 0) > length for _, row in places.values())
    windows = tuple(
        Window(
            executor,
            number,
            row.release // length * length,
            2 * length if leaves else length,
            chain,
            row.instance,
        )
        for executor, (number, row) in places.items()
    )
    return Choice(f"{which} response of {chain}", windows)


def _find(comparison: Comparison, results: Results, shown: list[Shown]) -> dict[Shown, Place]:
    """Finds, for each chain and "worst" or "median" in `shown`, the first instance with exactly
    that response time. Returns the instance with the number of its round. Chains without responses
    are left out."""
    wanted: dict[tuple[str, int], list[Shown]] = {}
    for chain, which in shown:
        result = results.chain(chain)
        if result is not None and result.response is not None:
            value = result.response.worst if which == "worst" else result.response.p50
            wanted.setdefault((chain, round(value * 1e6)), []).append((chain, which))
    if results.streamed is not None:
        return _nearest(comparison, results, wanted)
    found: dict[Shown, Place] = {}
    for run in comparison.runs[results.executor]:
        number = round_number(comparison, run.directory.name)
        for row in run.chain_rows():
            if not wanted:
                return found
            if row.response is not None:
                for one in wanted.pop((row.chain, row.response), ()):
                    found[one] = number, row
    return found


def _nearest(
    comparison: Comparison, results: Results, wanted: dict[tuple[str, int], list[Shown]]
) -> dict[Shown, Place]:
    """Finds the kept instances with the nearest response times: a run that streamed does not keep
    every instance, and its percentiles are those of a histogram."""
    found: dict[Shown, Place] = {}
    for run in comparison.runs[results.executor]:
        number = round_number(comparison, run.directory.name)
        for row in run.chain_rows():
            for (chain, response), shown in wanted.items():
                if row.chain != chain or row.response is None:
                    continue
                for one in shown:
                    best = found[one][1].response if one in found else None
                    if best is None or abs(row.response - response) < abs(best - response):
                        found[one] = number, row
    return found


def round_number(comparison: Comparison, directory: str) -> int:
    """Returns the number in `round-2`; 1 for a single run."""
    number = directory.removeprefix("round-")
    return int(number) if not comparison.is_single_run and number.isdigit() else 1


def _beginning(comparison: Comparison, length: int) -> Choice:
    """Returns the second window of the first round: the first one contains the start-up. A run
    that streamed has the second one of those that it has kept whole."""
    windows = []
    for results in comparison.executors:
        run = comparison.runs[results.executor][0]
        end = round(run.results.duration_s * 1e9)
        streamed = run.results.streamed
        first = 0 if streamed is None else -(-round(streamed.latest_since_ms * 1e6) // length)
        start = (first + 1) * length if end >= (first + 2) * length else first * length
        number = round_number(comparison, run.directory.name)
        windows.append(Window(results.executor, number, start, length))
    kept = " that is kept whole" if any(each.streamed for each in comparison.executors) else ""
    return Choice(f"second hyperperiod{kept} of the first round", tuple(windows))
