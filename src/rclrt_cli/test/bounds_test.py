# SPDX-License-Identifier: Apache-2.0
"""Observations above a bound: their number, their cause, and the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_py.bounds.comparing import judgement
from rclrt_py.bounds.excesses import (
    ASSUMPTION,
    HOST,
    UNEXPLAINED,
    excesses_csv,
    load_excesses,
)
from rclrt_py.bounds.predicted import PredictedChain, Prediction, Predictions
from rclrt_py.comparisons.comparison import Comparison, load_single_run, merge_directory
from rclrt_py.report.bound_lines import bound_lines
from rclrt_py.runs.output_directory import BOUNDS
from rclrt_py.runs.results import Results
from rclrt_py.runs.run_data import EXCESSES, Run
from rclrt_py.testing.synthetic_run import write_run
from rclrt_py.testing.workspace import Workspace
from sources import SCHEMA


def chain(bound_ms: float | None, *assumptions: str) -> PredictedChain:
    return PredictedChain("obstacle", bound_ms, "proved", assumptions, 3, (1,), "")


def predictions(of_chain: PredictedChain) -> Predictions:
    return Predictions({"preemptive": Prediction({of_chain.id: of_chain}, ("SCHED_FIFO",))}, "")


def observed(
    directory: Path, of_chain: PredictedChain, cause: str = UNEXPLAINED, what: str = ""
) -> Results:
    """A run in which the obstacle chain's worst response is above 15 ms, beside a bound."""
    write_run(directory, "preemptive", 2.0)
    run = Run.load(directory)
    above = [replace(each, cause=cause, what=what) for each in load_excesses(run, [of_chain])]
    (directory / EXCESSES).write_text(excesses_csv(above))
    (directory / BOUNDS).write_text(predictions(of_chain).to_json())
    return load_single_run(directory).executors[0]


def test_nothing_is_above_a_bound_that_holds(tmp_path: Path) -> None:
    results = observed(tmp_path / "run", chain(30))
    found = results.chains[0].predicted
    assert found is not None
    assert (found.bound_ms, found.verdict, found.exceeded) == (30, "proved", 0)
    assert judgement([results]) == (0, [])


def test_an_observation_above_a_proved_bound_is_exit_code_3(tmp_path: Path) -> None:
    results = observed(tmp_path / "run", chain(5))
    found = results.chains[0].predicted
    assert found is not None
    assert found.exceeded == found.exceeded_own == results.chains[0].released == 40
    code, said = judgement([results])
    assert code == 3
    assert "40 of 40 instances of chain obstacle are above its bound of 5 ms" in said[0]


def test_what_a_stall_explains_is_the_hosts(tmp_path: Path) -> None:
    results = observed(tmp_path / "run", chain(5), HOST, "the CPU stood still")
    found = results.chains[0].predicted
    assert found is not None
    assert (found.exceeded, found.exceeded_host, found.exceeded_why) == (40, 40, ())
    assert judgement([results]) == (0, [])
    assert "40 (40)" in "\n".join(bound_lines([results]))


def test_a_broken_assumption_is_told_and_is_exit_code_3(tmp_path: Path) -> None:
    results = observed(tmp_path / "run", chain(5), ASSUMPTION, "brake needed 2 ms, at 0.1 s")
    found = results.chains[0].predicted
    assert found is not None
    assert (found.exceeded_host, found.exceeded_broken, len(found.exceeded_why)) == (0, 40, 3)
    code, said = judgement([results])
    assert code == 3
    assert "in 40 of them another assumption was measured not to hold" in said[0]
    assert "ms: brake needed 2 ms, at 0.1 s" in "\n".join(bound_lines([results]))


def test_above_a_bound_with_assumptions_they_are_named_and_nothing_is_refuted(
    tmp_path: Path,
) -> None:
    results = observed(tmp_path / "run", chain(5, "the executor runs on one CPU"))
    code, said = judgement([results])
    assert code == 0
    assert (
        "at least one of these assumptions does not hold: the executor runs on one CPU" in said[0]
    )


def test_without_real_time_scheduling_no_bound_is_held_against_a_run(tmp_path: Path) -> None:
    results = observed(tmp_path / "run", chain(5))
    results = replace(results, context={**results.context, "realtime": False})
    assert judgement([results]) == (0, [])
    assert "no bound holds" in "\n".join(bound_lines([results]))


def test_a_chain_without_a_bound_is_shown_without_one(tmp_path: Path) -> None:
    results = observed(tmp_path / "run", chain(None))
    assert results.chains[0].predicted is not None
    assert judgement([results]) == (0, [])
    assert any(line.startswith("obstacle ") for line in bound_lines([results]))


def test_the_reasons_of_what_is_not_proved_are_grouped(tmp_path: Path) -> None:
    above = "the bound is above the deadline, which proves nothing"
    slow = observed(tmp_path / "slow", replace(chain(99), verdict="unknown", note=above))
    executors = [replace(slow, executor="wait_set"), slow]
    for executor, load in (("edf", "97.2"), ("events", "108.5"), ("picas", "97.2")):
        limited = chain(99, f"the load is {load} % of 95.0 %")
        results = observed(tmp_path / executor, replace(limited, verdict="conditional"))
        executors.append(replace(results, executor=executor))
    lines = list(bound_lines(executors))
    assert lines[lines.index("Why deadlines are not proved:") + 1 :] == [
        f"  wait_set, preemptive: obstacle: {above}.",
        "  edf, events, picas: obstacle: holds only if the load is 97.2 to 108.5 % of 95.0 %.",
    ]
    assert "Why" not in "\n".join(bound_lines([observed(tmp_path / "proved", chain(30))]))


def test_each_step_of_a_chain_has_its_worst(tmp_path: Path) -> None:
    steps = replace(
        chain(30),
        callbacks=("capture", "identify", "fuse", "detect", "brake"),
        step_bounds_ms=(6.0, 12.0, None, 25.0, 30.0),
    )
    results = observed(tmp_path / "run", steps)
    found, response = results.chains[0].predicted, results.chains[0].response
    assert found is not None
    assert response is not None
    assert [(step.callback, step.bound_ms) for step in found.steps[:3]] == [
        ("capture", 6.0),
        ("identify", 12.0),
        ("fuse", None),
    ]
    worsts = [step.worst_ms or 0 for step in found.steps]
    assert worsts == sorted(worsts)
    assert worsts[0] >= 3  # the work of capture
    assert worsts[-1] == response.worst
    assert not any("until identify" in line for line in bound_lines([results]))


def test_a_chain_is_shown_callback_by_callback_where_one_of_them_is_above_its_bound(
    tmp_path: Path,
) -> None:
    steps = replace(
        chain(30),
        callbacks=("capture", "identify", "fuse", "detect", "brake"),
        step_bounds_ms=(3.5, 0.1, None, 25.0, 30.0),
    )
    results = observed(tmp_path / "run", steps)
    found = [line.split()[1] for line in bound_lines([results]) if line.startswith("  until ")]
    assert found == ["capture", "identify", "fuse", "detect"]


def test_bounds_survive_being_written_and_read(tmp_path: Path) -> None:
    written = predictions(chain(12.5, "one CPU"))
    (tmp_path / BOUNDS).write_text(written.to_json())
    assert Predictions.load(tmp_path) == written
    assert Predictions.load(tmp_path / "elsewhere") is None


def test_results_with_bounds_fit_the_schema(tmp_path: Path) -> None:
    for executor in ("wait_set", "preemptive"):
        write_run(tmp_path / executor / "round-1", executor, 1.0)
    (tmp_path / BOUNDS).write_text(predictions(chain(12.5, "one CPU")).to_json())
    comparison: Comparison = merge_directory(tmp_path, ("wait_set", "preemptive"), 1, 1.0)
    document: Any = json.loads(json.dumps(comparison.to_json()))
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    by_executor = {item["executor"]: item["chains"][0] for item in document["executors"]}
    assert "bound_ms" not in by_executor["wait_set"]
    assert by_executor["preemptive"]["bound_ms"] == 12.5
    assert by_executor["preemptive"]["verdict"] == "proved"


@pytest.mark.parametrize("bounds", [("--bounds",), ("--overheads", "overheads.json")])
def test_a_run_with_bounds_shows_them_and_keeps_them_in_its_results(
    workspace: Workspace, bounds: tuple[str, ...]
) -> None:
    pytest.importorskip("rclrt_analysis")
    overheads = {"rclrt": 1, "kind": "overheads", "executors": {"preemptive": {"dispatch_us": 20}}}
    (workspace.root / "overheads.json").write_text(json.dumps(overheads))
    done = workspace.run(
        "run", workspace.app, "--executor", "preemptive", "--out", str(workspace.out), *bounds
    )
    assert "observed against bound" in done.stdout, done.stderr
    chains = workspace.results()["chains"]
    assert all("verdict" in item and "bound_ms" in item for item in chains)
    again = workspace.run("report", str(workspace.out))
    assert "observed against bound" in again.stdout


def test_overheads_that_cannot_be_read_are_refused_before_anything_runs(
    workspace: Workspace,
) -> None:
    (workspace.root / "overheads.json").write_text('{"rclrt": 1, "kind": "results"}')
    done = workspace.run(
        *("run", workspace.app, "--executor", "preemptive", "--out", str(workspace.out)),
        *("--overheads", "overheads.json"),
    )
    assert done.returncode == 2
    assert "kind is the text 'results'; expected 'overheads'" in done.stderr
    assert workspace.calls() == []
