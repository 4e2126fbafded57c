# SPDX-License-Identifier: Apache-2.0
"""Observations above a bound: which, whose fault, and what is answered."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_cli.bounds.comparing import bound_lines, judgement
from rclrt_cli.bounds.observed import BusyTimes, delay_of, lost_time, stalled_time
from rclrt_cli.bounds.predicted import PredictedChain, Prediction, Predictions
from rclrt_cli.comparison import Comparison, load_single_run, merge_directory
from rclrt_cli.csv_reader import InstanceRow, StallRow
from rclrt_cli.output_directory import BOUNDS
from rclrt_cli.results import Results
from runner_test import SCHEMA
from synthetic_run import write_run
from workspace import Workspace

MS = 1_000_000


def chain(bound_ms: float | None, *assumptions: str) -> PredictedChain:
    # So much is allowed for overheads that no time is unaccounted for.
    return PredictedChain(
        *("obstacle", bound_ms, "proved", assumptions, 3, (1,), ""), each_ms=1000.0
    )


def predictions(of_chain: PredictedChain) -> Predictions:
    return Predictions({"preemptive": Prediction({of_chain.id: of_chain}, ("SCHED_FIFO",))}, "")


def observed(directory: Path, of_chain: PredictedChain, stalls: str = "") -> Results:
    """A run in which the obstacle chain's worst response is above 15 ms, beside a bound."""
    write_run(directory, "preemptive", 2.0)
    (directory / "stalls.csv").write_text("cpu,start_ns,end_ns\n" + stalls)
    (directory / BOUNDS).write_text(predictions(of_chain).to_json())
    return load_single_run(directory).executors[0]


def worst(directory: Path) -> tuple[float, int]:
    """Of the obstacle chain: the response in ms, and the release in ns."""
    lines = (directory / "chains.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines if line.startswith("obstacle,")]
    response, release = max((int(row[4]), int(row[2])) for row in rows if row[4])
    return response / 1e6, release


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


def test_what_a_stall_explains_is_the_hosts_and_only_that(tmp_path: Path) -> None:
    write_run(tmp_path / "probe", "preemptive", 2.0)
    response, release = worst(tmp_path / "probe")
    bound = chain(response - 0.001)  # the worst one alone is above
    enough = f"1,{release + 100},{release + 1_100}\n"
    assert judgement([observed(tmp_path / "a", bound, enough)])[0] == 0
    too_short = f"1,{release + 100},{release + 1_000}\n"
    assert judgement([observed(tmp_path / "b", bound, too_short)])[0] == 3
    other_cpu = f"0,{release + 100},{release + 1_100}\n"
    assert judgement([observed(tmp_path / "c", bound, other_cpu)])[0] == 3
    shown = "\n".join(bound_lines([load_single_run(tmp_path / "a").executors[0]]))
    assert "1 (1)" in shown


def test_above_a_bound_with_assumptions_they_are_named_and_nothing_is_refuted(
    tmp_path: Path,
) -> None:
    results = observed(tmp_path / "run", chain(5, "the executor runs on one CPU"))
    code, said = judgement([results])
    assert code == 0
    assert "so one of these is not so: the executor runs on one CPU" in said[0]


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


def test_each_step_of_a_chain_has_its_worst(tmp_path: Path) -> None:
    steps = replace(
        chain(30),
        callbacks=("capture", "identify", "fuse", "detect", "brake"),
        step_bounds_ms=(3.5, 12.0, None, 25.0, 30.0),
    )
    results = observed(tmp_path / "run", steps)
    found, response = results.chains[0].predicted, results.chains[0].response
    assert found is not None
    assert response is not None
    assert [(step.callback, step.bound_ms) for step in found.steps[:3]] == [
        ("capture", 3.5),
        ("identify", 12.0),
        ("fuse", None),
    ]
    worsts = [step.worst_ms or 0 for step in found.steps]
    assert worsts == sorted(worsts)
    assert worsts[0] >= 3  # the work of capture
    assert worsts[-1] == response.worst
    assert any("until identify" in line for line in bound_lines([results]))


def row(ready: int, end: int, priority: int) -> InstanceRow:
    return InstanceRow(0, "x", priority, "main", ready, ready, ready, end, 0, 0, "ran", "")


def test_a_busy_time_goes_on_while_work_of_its_level_is_left() -> None:
    rows = [row(0, 10, 3), row(8, 20, 2), row(15, 30, 1), row(40, 50, 3)]
    assert BusyTimes(rows, "preemptive", 2).start(18) == 0
    assert BusyTimes(rows, "preemptive", 2).start(25) == 25  # only level 1 is busy
    assert BusyTimes(rows, "preemptive", 1).start(25) == 0
    assert BusyTimes(rows, "preemptive", 1).start(45) == 40
    assert BusyTimes(rows, "wait_set", 3).start(25) == 0  # everything is in one queue


def test_a_stall_delays_by_itself_and_by_what_is_released_meanwhile() -> None:
    # Two callbacks of 1 ms every 5 ms: after 47.8 ms the backlog is done by
    # (47.8 + 2) / (1 - 0.4) = 83 ms.
    busy = replace(chain(3), work_ms=2.0, load=0.4)
    assert delay_of(47_800_000, busy) == pytest.approx(83_000_000)
    assert delay_of(0, busy) == 0
    assert delay_of(1, replace(busy, load=1.0)) == math.inf


def test_time_that_nothing_accounts_for_is_stalled_time_that_the_probe_did_not_see() -> None:
    def ran(start_us: int, end_us: int, cpu_us: int, priority: int = 3) -> InstanceRow:
        times = (start_us * 1000, start_us * 1000, start_us * 1000, end_us * 1000)
        return InstanceRow(0, "x", priority, "main", *times, cpu_us * 1000, 0, "ran", "")

    allowed = replace(chain(3), each_ms=0.05, once_ms=0.1, background=0.01)
    rows = [ran(0, 1000, 900), ran(1000, 2000, 1000), ran(5000, 6000, 1000)]
    # Of 2 ms 1.9 ran, and 2 x 0.05 + 0.1 + 1 % of 2 ms are allowed.
    assert lost_time(rows, allowed, 0, 2_000_000) == 0
    rows[0] = ran(0, 1000, 500)  # half a millisecond more is gone
    assert lost_time(rows, allowed, 0, 2_000_000) == 280_000
    # Something less urgent that goes on afterwards was preempted meanwhile, and does not count;
    # what ends meanwhile was in the way.
    assert lost_time([*rows, ran(-500, 2500, 500, 1)], allowed, 0, 2_000_000) == 280_000
    assert lost_time([*rows, ran(-500, 200, 200, 1)], allowed, 0, 2_000_000) == 30_000
    assert lost_time(rows, replace(allowed, cpus=(0, 1)), 0, 2_000_000) == 0


def test_stalls_of_several_cpus_count_once() -> None:
    stalls = [StallRow(0, 10, 20), StallRow(1, 15, 30), StallRow(1, 50, 60)]
    assert stalled_time(stalls, (), 0, 100) == 30
    assert stalled_time(stalls, (1,), 0, 100) == 25
    assert stalled_time(stalls, (1,), 20, 55) == 15


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
    assert "kind is \"results\"; expected 'overheads'" in done.stderr
    assert workspace.calls() == []
