# SPDX-License-Identifier: Apache-2.0
"""`rclrt simulate` with the real simulator."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from rclrt_py.runs.cpu_parts import CpuPart, have_times, migrations
from rclrt_py.runs.run_data import Run
from rclrt_py.testing.command import finished
from sources import ROOT, SCHEMA

APPLICATION = ROOT / "examples" / "autonomous_vehicle" / "app.yaml"


def simulate(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return finished("simulate", str(APPLICATION), "--out", str(out), *arguments)


def test_a_simulation_is_reported_as_a_run_is_and_says_what_it_is(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = simulate(out, "--executor", "preemptive", "--seed", "3", "--execution-from", "0.5")
    assert done.returncode == 0, done.stderr
    assert "obstacle   priority 3, every 50 ms, deadline 25 ms" in done.stdout
    assert "simulated: preemptive" in done.stdout
    results = json.loads((out / "results.json").read_text())
    jsonschema.validate(results, json.loads(SCHEMA.read_text()))
    assert results["simulated"] == {"seed": 3, "lowest_execution": 0.5}
    assert "nothing here was measured" in (out / "report.html").read_text()


@pytest.mark.parametrize("executor", ["preemptive", "thread_dispatch", "wait_set"])
@pytest.mark.parametrize("cpus", [2, 3])
def test_the_cpus_of_a_simulation_explain_its_times_and_are_in_the_report(
    executor: str, cpus: int, tmp_path: Path
) -> None:
    app, out = ROOT / "examples" / "autoware_reference" / "app.yaml", tmp_path / "out"
    line = ("--executor", executor, "--seconds", "2", "--cpus", str(cpus), "--out", str(out))
    done = finished("simulate", str(app), *line)
    assert done.returncode == 0, done.stderr
    run = Run.load(out)
    busy: dict[int, list[tuple[int, int]]] = {cpu: [] for cpu in range(cpus)}
    moves = dict.fromkeys((callback.id for callback in run.results.callbacks), 0)
    for row in run.instance_rows():
        parts = (
            row.cpus if have_times(row.cpus) else (CpuPart(row.cpus[0].cpu, row.start, row.end),)
        )
        assert sum(part.end - part.start for part in parts) == row.cpu
        assert (parts[0].start, parts[-1].end) == (row.start, row.end)
        for part in parts:
            busy[part.cpu].append((part.start, part.end))
        moves[row.callback] += migrations(row.cpus) if row.outcome == "ran" else 0
    for intervals in busy.values():
        ordered = sorted(each for each in intervals if each[0] < each[1])
        assert all(a[1] <= b[0] for a, b in pairwise(ordered))  # one at a time
    assert {each.id: each.migrations for each in run.results.callbacks} == moves
    assert (sum(moves.values()) > 0) == (executor != "wait_set")  # nothing preempts its one thread
    page = (out / "report.html").read_text(encoding="utf-8")
    used = json.dumps([cpu for cpu, intervals in busy.items() if intervals], separators=(",", ":"))
    assert f'"cpus":{used}' in page.replace(" ", "")


def test_the_table_and_the_report_state_the_times_of_an_event_as_its_file_does(
    tmp_path: Path,
) -> None:
    app, out = tmp_path / "app.yaml", tmp_path / "out"
    app.write_text(
        """
rclrt: 1
name: camera
nodes: [{name: camera}]
callbacks:
  - {id: image, node: camera, event: {period_ms: 33.333, jitter_ms: 10}, wcet_ms: 1}
  - {id: bumper, node: camera, event: {min_interval_ms: 20, max_interval_ms: 500}, wcet_ms: 1}
chains:
  - {id: see, callbacks: [image], priority: 2}
  - {id: stop, callbacks: [bumper], priority: 1, deadline_ms: 20}
""",
        encoding="utf-8",
    )
    done = finished("simulate", str(app), "--executor", "preemptive", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "see   priority 2, every 33.333 ms, up to 10 ms late, deadline 33.333 ms" in done.stdout
    assert "stop   priority 1, 20 to 500 ms apart, deadline 20 ms" in done.stdout
    results = json.loads((out / "results.json").read_text())
    jsonschema.validate(results, json.loads(SCHEMA.read_text()))
    report = (out / "report.html").read_text(encoding="utf-8")
    assert report.count('"every 33.333 ms, up to 10 ms late"') == 2  # chain and callback


def test_ten_seconds_of_preemptive_meet_the_deadlines_that_the_wait_set_misses(
    tmp_path: Path,
) -> None:
    good = simulate(tmp_path / "good", "--executor", "preemptive", "--fail-on-miss")
    assert good.returncode == 0
    bad = simulate(tmp_path / "bad", "--executor", "wait_set", "--fail-on-miss", "obstacle")
    assert bad.returncode == 1
    assert "chain obstacle missed 120 deadlines of 200" in bad.stderr


def test_what_the_simulator_refuses_is_bad_input(tmp_path: Path) -> None:
    done = simulate(tmp_path / "out", "--executor", "preemptive", "--seed", "x")
    assert done.returncode == 2
    assert "--seed x: expected a whole number" in done.stderr
    assert not (tmp_path / "out").exists()


def test_wrong_options_are_reported_before_earlier_results_are_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert simulate(out, "--executor", "preemptive", "--seconds", "1").returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = simulate(out, "--executor", "preemptive", "--seed", "-3")
    assert done.returncode == 2
    assert done.stderr == ("rclrt: rclrt_simulator: --seed -3: expected a whole number from 0 on\n")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_wrong_option_is_reported_also_without_a_directory() -> None:
    wrong = ["--executor", "preemptive", "--cpus", "0"]
    done = finished("simulate", str(APPLICATION), *wrong)
    assert done.returncode == 2
    assert "--cpus 0: expected a whole number from 1 to 64" in done.stderr
    done = finished("simulate", str(APPLICATION), *wrong[:2])
    assert "simulate: no --out; expected a directory for the results" in done.stderr


def test_fail_on_miss_takes_a_chain_that_samples(tmp_path: Path) -> None:
    app = ROOT / "examples" / "eye_to_wheel" / "app.yaml"
    options = ("--executor", "preemptive", "--seconds", "2", "--fail-on-miss", "eye_to_wheel")
    done = finished("simulate", str(app), *options, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "eye_to_wheel_1   priority 1, every 50 ms, up to 5 ms late, no deadline" in done.stdout
    tight = tmp_path / "tight.yaml"
    tight.write_text(app.read_text().replace("max_age_ms: 130", "max_age_ms: 60"))
    done = finished("simulate", str(tight), *options, "--out", str(tmp_path / "tight"))
    assert done.returncode == 1
    assert "above its largest data age" in done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "exceeded its max_age_ms" in line]
    assert line.startswith("chain eye_to_wheel exceeded its max_age_ms by ")
    assert "ms until plan runs and reads the value" in line
    assert "  longest wait: " in done.stdout
    (chain,) = json.loads((tmp_path / "tight" / "results.json").read_text())["cause_effect_chains"]
    for way, times in (("worst_reaction", "reaction_ms"), ("worst_age", "age_ms")):
        terms = [term["time_ms"] for term in chain[way]["terms"]]
        assert chain[way]["time_ms"] == chain[times]["worst"] == pytest.approx(sum(terms))


def test_a_late_value_that_is_replaced_breaks_no_limit(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text("""
rclrt: 1
name: replaced
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: a, node: n, timer: {period_ms: 10, offset_ms: 0}, wcet_ms: 1, priority: 1, stores: [x]}
  - {id: h, node: n, timer: {period_ms: 1000, offset_ms: 5}, wcet_ms: 60, priority: 5}
  - {id: b, node: n, timer: {period_ms: 1000, offset_ms: 500}, wcet_ms: 0.1, priority: 9,
     reads: [x]}
chains: [{id: path, callbacks: [a, b], max_age_ms: 50}]
""")
    out = tmp_path / "out"
    options = ("--executor", "preemptive", "--seconds", "5", "--fail-on-miss")
    done = finished("simulate", str(app), *options, "--out", str(out))
    assert done.returncode == 0, done.stderr
    (chain,) = json.loads((out / "results.json").read_text())["cause_effect_chains"]
    assert chain["age_ms"]["worst"] == 10.1
