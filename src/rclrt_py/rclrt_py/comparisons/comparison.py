# SPDX-License-Identifier: Apache-2.0
"""A comparison: the merged results of several executors over interleaved rounds."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rclrt_py.bounds.comparing import with_predictions
from rclrt_py.bounds.predicted import Predictions
from rclrt_py.errors import BadInput
from rclrt_py.executors import BASELINE, folder_name
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.merge import merge_contexts, merge_runs, parts_of
from rclrt_py.runs.results import Results
from rclrt_py.runs.run_data import RESULTS, Run
from rclrt_py.runs.simulated import Replayed

COMPARISON_VERSION = 1
MAX_ROUNDS = 1000


@dataclass(frozen=True)
class Missing:
    """A round that was requested and did not complete."""

    executor: str
    round: int


@dataclass(frozen=True)
class Comparison:
    """Merged results per executor, with the run directories they were computed from."""

    rounds: int
    seconds: float
    missing: tuple[Missing, ...]
    executors: tuple[Results, ...]
    runs: dict[str, tuple[Run, ...]]
    is_single_run: bool = False

    @property
    def application(self) -> dict[str, Any]:
        return self.executors[0].application

    @property
    def context(self) -> dict[str, Any]:
        """The facts about the machine during all measured runs, merged; those of the simulated runs
        if no run was measured."""
        measured = [results for results in self.executors if results.simulated is None]
        return merge_contexts([results.context for results in measured or self.executors])

    @property
    def baseline(self) -> Results | None:
        return next((results for results in self.executors if results.executor == BASELINE), None)

    @property
    def replayed(self) -> Replayed | None:
        """The instance of the counter-example that a single run repeats, if it does."""
        return self.executors[0].replayed if self.is_single_run else None

    def to_json(self) -> dict[str, Any]:
        return {
            "rclrt_comparison": COMPARISON_VERSION,
            "application": self.application,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "baseline": BASELINE,
            "missing": [
                {"executor": missing.executor, "round": missing.round} for missing in self.missing
            ],
            "context": self.context,
            "executors": [results.to_json() for results in self.executors],
        }


def round_directory(directory: Path, executor: str, number: int) -> Path:
    return directory / folder_name(executor) / f"round-{number}"


def merge_directory(
    directory: Path, executors: Sequence[str], rounds: int, seconds: float
) -> Comparison:
    """Returns the comparison of every completed round under `directory`."""
    _check_plan(directory, executors, rounds)
    runs: dict[str, tuple[Run, ...]] = {}
    missing: list[Missing] = []
    for executor in executors:
        done: list[Run] = []
        for number in range(1, rounds + 1):
            run_directory = round_directory(directory, executor, number)
            if (run_directory / RESULTS).is_file():
                done.append(_load_round(run_directory, executor))
            else:
                missing.append(Missing(executor, number))
        if done:
            runs[executor] = tuple(done)
    if not runs:
        raise BadInput(
            f"{directory}: no round of any executor completed, so there is nothing to report; "
            "measure again"
        )
    predictions = Predictions.load(directory)
    merged = tuple(with_predictions(merge_runs(done), done, predictions) for done in runs.values())
    for results in merged[1:]:
        if parts_of(results) != parts_of(merged[0]):
            raise BadInput(
                f"{directory / results.executor}: measured another application than "
                f"{directory / merged[0].executor}; measure both again"
            )
    return Comparison(rounds, seconds, tuple(missing), merged, runs)


def _check_plan(directory: Path, executors: Sequence[str], rounds: int) -> None:
    """Throws BadInput unless all names of `executors` are names of folders inside `directory` and
    `rounds` is in its range. These values may come from a file that was changed by hand."""
    if not 1 <= rounds <= MAX_ROUNDS:
        raise BadInput(f"{directory}: {rounds} rounds; expected 1 to {MAX_ROUNDS}")
    for executor in executors:
        if Path(executor).name != executor or executor in ("", ".", ".."):
            raise BadInput(
                f"{directory}: executor '{executor}' cannot be the name of a folder; "
                "expected the name of an executor"
            )


def load_single_run(
    directory: Path, claimed: Path | None = None, original: Path | None = None
) -> Comparison:
    """A run directory seen as a comparison of one executor. `claimed`: the directory with the
    bounds, if it is another one. `original`: the directory of which this one is a copy."""
    run = Run.load(directory, original)
    merged = with_predictions(merge_runs([run]), [run], Predictions.load(claimed or directory))
    return Comparison(
        1, run.results.duration_s, (), (merged,), {run.results.executor: (run,)}, True
    )


def combine(comparisons: Sequence[Comparison]) -> Comparison:
    """Merges the results of several directories into one comparison, with the simulated results
    beside the measured ones. If an executor occurs more than once, the path of the directory is
    added to its name."""
    executors: list[Results] = []
    runs: dict[str, tuple[Run, ...]] = {}
    for comparison in comparisons:
        for results in comparison.executors:
            own = comparison.runs[results.executor]
            if executors and parts_of(results) != parts_of(executors[0]):
                raise BadInput(
                    f"{own[0].place}: measured another application than "
                    f"{runs[executors[0].executor][0].place}; measure both again"
                )
            named = _distinguished(results, own[0].place, runs)
            executors.append(named)
            runs[named.executor] = own
    return Comparison(
        rounds=max(comparison.rounds for comparison in comparisons),
        seconds=max(comparison.seconds for comparison in comparisons),
        missing=tuple(missing for each in comparisons for missing in each.missing),
        executors=tuple(executors),
        runs=runs,
        is_single_run=all(comparison.is_single_run for comparison in comparisons),
    )


def _distinguished(results: Results, directory: Path, taken: Container[str]) -> Results:
    """Returns the results with an unambiguous executor name: simulated results get the prefix
    "simulated", and a name that is already in `taken` gets the path of the directory. Throws
    BadInput if the name is taken nevertheless."""
    name, label = results.executor, results.executor_label
    if results.simulated is not None:
        name = f"simulated {name}"
    if name in taken:
        name, label = f"{name} ({directory})", f"{label} ({directory})"
    if name in taken:
        raise BadInput(f"{directory}: is given twice; name each directory once")
    return replace(results, executor=name, executor_label=label)


def load_comparison(directory: Path) -> Comparison:
    """Loads the comparison of the results.json in `directory`, and merges its rounds again."""
    json = JsonValue.load(directory / RESULTS)
    version = json.get("rclrt_comparison")
    if version.integer() != COMPARISON_VERSION:
        version.fail(f"format version {COMPARISON_VERSION}")
    named = [Results.read(item).executor for item in json.get("executors").items()]
    asked = [item.get("executor").text() for item in json.get("missing").items()]
    executors = list(dict.fromkeys([*named, *asked]))
    rounds, seconds = json.get("rounds").count(), json.get("seconds").number()
    return merge_directory(directory, executors, rounds, seconds)


def _load_round(directory: Path, executor: str) -> Run:
    run = Run.load(directory)
    if run.results.executor != executor:
        raise BadInput(
            f"{directory / RESULTS}: executor is '{run.results.executor}'; expected '{executor}', "
            "as the folder is named"
        )
    return run
