# SPDX-License-Identifier: Apache-2.0
"""The source and the meaning of every figure in the report."""

from __future__ import annotations

from collections.abc import Iterator

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.runs.results import ChainResult

Row = tuple[str, str]


def source_rows(
    comparison: Comparison, sample_limit: int, slice_limit: int, complete: bool
) -> list[Row]:
    """Returns the sources. `complete`: the application's file is known, not only its results."""
    each = "" if comparison.is_single_run else "EXECUTOR/round-N/"
    merged = (
        "The figures are those of the run's results.json."
        if comparison.is_single_run
        else "Rounds are merged by computing every figure anew over all their instances together; "
        "no percentile is an average of percentiles. The merged figures are in results.json."
    )
    return [
        *_measured(each, merged, sample_limit, slice_limit),
        *_when(
            any(chain.predicted for chain in _chains(comparison)),
            "Bound",
            "Upper bound on the response time by rclrt analyze, under the assumptions that it "
            "lists; with the overheads that were given. Above the bound: completed later than it, "
            "dropped, or still pending with it passed. By host: of these, those that measured "
            "stalls in the busy time around them cover: all that was lost, and the bound with the "
            f"stall taken away. The evidence of each is in {each}excesses.csv.",
        ),
        *_when(
            any(results.simulated for results in comparison.executors),
            "Simulated",
            "Computed by rclrt simulate; no part of it was measured.",
        ),
        (
            "Missed deadlines",
            "The worst misses of each chain and round, from results.json: the response is own "
            "execution, delays with others in the way, transit between callbacks, and what "
            "remains unexplained. In the way: instances of other callbacks that had the CPU.",
        ),
        (
            "Graph",
            "The application file as rclrt_model read it, kept in application.json."
            if complete
            else "The chains and callbacks of results.json; the topics between them are not known.",
        ),
    ]


def _measured(each: str, merged: str, sample_limit: int, slice_limit: int) -> list[Row]:
    """Returns a row for each number of the report: its name, and the file and column that it is
    read from. `each`: the path of a run's folder."""
    return [
        (
            "Response time",
            "From the nominal release of the chain's timer, or the release of its event (not from "
            "the moment its callback started) to the return of the last callback. "
            f"Column response_ns of {each}chains.csv.",
        ),
        (
            "Median, p99",
            "Nearest rank: of n sorted values, number ⌈0.5 n⌉ and ⌈0.99 n⌉. Always a value that "
            f"was measured. {merged}",
        ),
        (
            "Missed",
            "Instances that completed after their deadline, were dropped, or were still pending "
            "with the deadline passed when the run ended.",
        ),
        (
            "Unmatched",
            "Instances that a synchroniser took in and left over, because its sets had newer ones: "
            "inputs of unequal rates leave messages over. They have no response and are no misses.",
        ),
        (
            "By host",
            "The missed instances that would have met the deadline without the time during which "
            "the machine did not run at all, as observed by a probe thread above every other "
            "priority. "
            f"Column host_stall_ns of {each}chains.csv.",
        ),
        (
            "Jitter, normalised worst",
            "Worst minus best response; worst response divided by the deadline.",
        ),
        (
            "Ratios",
            "An executor's figure divided by that of the wait set in the same comparison. The wait "
            "set is rclrt's own executor with the scheduling of rclcpp's.",
        ),
        (
            "Histograms",
            "All completed instances of all rounds (of a run that streamed, from its "
            f"{each}histograms.csv); at most {sample_limit} values per chain are kept, by leaving "
            "out all but every k-th of the sorted values (the best and the worst stay).",
        ),
        (
            "Timeline",
            f"Rows of {each}instances.csv (threads) and {each}chains.csv (chains) in the chosen "
            f"window, at most {slice_limit} slices. Where a callback used less CPU time than it "
            "lasted and another one ran instead, it is drawn as paused; where nothing recorded "
            "says why, as held up from outside. Threads of one level share a lane while no two of "
            "them run at the same time. Rows of CPUs: column cpus. In a simulation, and in a trace "
            "with the switches of threads, it has every part of an instance; in a run only the CPU "
            "on which an instance began and the one on which it ended.",
        ),
    ]


def _chains(comparison: Comparison) -> Iterator[ChainResult]:
    return (chain for results in comparison.executors for chain in results.chains)


def _when(applies: bool, what: str, text: str) -> list[Row]:
    return [(what, text)] if applies else []
