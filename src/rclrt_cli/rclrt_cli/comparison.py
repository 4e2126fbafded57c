# SPDX-License-Identifier: Apache-2.0
"""A comparison: the merged results of several executors over interleaved rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclrt_cli.errors import BadInput
from rclrt_cli.executors import BASELINE
from rclrt_cli.json_reader import JsonValue
from rclrt_cli.merge import merge_contexts, merge_runs, parts_of
from rclrt_cli.results import Results
from rclrt_cli.run_data import RESULTS, Run

COMPARISON_VERSION = 1
MAX_ROUNDS = 1000


@dataclass(frozen=True)
class Missing:
    """A round that was asked for and did not complete."""

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
        return merge_contexts([results.context for results in self.executors])

    @property
    def baseline(self) -> Results | None:
        return next((results for results in self.executors if results.executor == BASELINE), None)

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
    return directory / executor / f"round-{number}"


def merge_directory(
    directory: Path, executors: Sequence[str], rounds: int, seconds: float
) -> Comparison:
    """The comparison over every round under `directory` that completed."""
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
        raise BadInput(f"{directory}: no round completed; there is nothing to report")
    merged = tuple(merge_runs(done) for done in runs.values())
    for results in merged[1:]:
        if parts_of(results) != parts_of(merged[0]):
            raise BadInput(
                f"{directory / results.executor}: measured another application than "
                f"{directory / merged[0].executor}; measure both anew"
            )
    return Comparison(rounds, seconds, tuple(missing), merged, runs)


def _check_plan(directory: Path, executors: Sequence[str], rounds: int) -> None:
    """The plan may come from a file: it must not lead out of the directory, nor go on forever."""
    if not 1 <= rounds <= MAX_ROUNDS:
        raise BadInput(f"{directory}: {rounds} rounds; expected 1 to {MAX_ROUNDS}")
    for executor in executors:
        if Path(executor).name != executor or executor in ("", ".", ".."):
            raise BadInput(
                f"{directory}: executor '{executor}' is not a folder's name; "
                "expected the name of an executor"
            )


def load_single_run(directory: Path) -> Comparison:
    """A run directory seen as a comparison of one executor."""
    run = Run.load(directory)
    merged = merge_runs([run])
    return Comparison(
        1, run.results.duration_s, (), (merged,), {run.results.executor: (run,)}, True
    )


def load_comparison(directory: Path) -> Comparison:
    """The comparison whose results.json is in `directory`, merged anew from its rounds."""
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
