# SPDX-License-Identifier: Apache-2.0
"""`rclrt experiment` on ROS 2."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from rclrt_experiments.experiment import read_experiment
from rclrt_experiments.live import Live
from rclrt_experiments.rows import OutputRow
from rclrt_experiments.unit import Unit
from rclrt_py.errors import BadInput, RclrtError, RunFailed
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S
from small_experiment import SMALL, command_line, read_csv, read_overheads, read_rows, read_runs

from rclrt_experiments import live


@pytest.fixture
def one_cpu(small: Path) -> Path:
    text = SMALL.replace("cpus: [1], scheduler_cpus: [0]", "cpus: [0]")
    small.write_text(text.replace("trials: 4", "trials: 1").replace("seconds: 2", "seconds: 1"))
    return small


def test_two_experiments_never_run_side_by_side(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = threading.Event()
    monkeypatch.setattr(time, "sleep", lambda _: waits.set())
    stop = StopSignals()
    order = []

    def run_another() -> None:
        with live.alone(stop):
            order.append("other")

    other = threading.Thread(target=run_another)
    with live.alone(stop):
        other.start()
        assert waits.wait(GENEROUS_S)
        order.append("one")
    other.join()
    assert order == ["one", "other"]
    assert capsys.readouterr().err == "rclrt: waiting for another experiment on this machine\n"


def test_runs_give_rows_bounds_and_what_the_host_took(
    experiment: Command, one_cpu: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = experiment(one_cpu, "--tries", 1, "--out", out)
    assert done.returncode == 0, done.stderr
    rows, runs = read_rows(out / "rows.csv"), read_runs(out / "runs.csv")
    assert len(rows) == 2 * 3 * 3
    assert [run["executor"] for run in runs] == [
        "wait_set", "preemptive", "thread_dispatch+synthesis",
    ] * 2  # fmt: skip
    light = [row for row in rows if row.varied == "20 %" and row.executor == "preemptive"]
    assert all(row.n > 0 for row in light)
    # The dispatch time is not stated.
    assert {row.verdict for row in rows} <= {"conditional", "refuted", "unknown"}
    assert all(run["tries"] == "1" and float(run["steal_ms"]) >= 0 for run in runs)
    assert {row.measure for row in read_overheads(out / "overheads.csv")} == {"ready", "launch"}
    page = (out / "report.html").read_text()
    assert "run on ROS 2" in page
    assert "<th>simulated not to: missed</th>" in page
    assert all(run["missed_host_of"].count(" ") == 2 for run in runs)  # three chains
    assert all(run["steal_of_tries_ms"] == f"{float(run['steal_ms']):g}" for run in runs)
    assert runs[0]["kernel"] in page


def test_runs_give_reaction_times_and_ages_of_sampled_chains(
    experiment: Command, one_cpu: Path, tmp_path: Path
) -> None:
    text = one_cpu.read_text().replace("chain_sync_p: 0.3", "limits: all")
    text = text.replace("[wait_set, preemptive, thread_dispatch+synthesis]", "[preemptive+let]")
    periods = "min_period_us: 20000, max_period_us: 50000"
    one_cpu.write_text(text.replace("chain_count: 3", f"chain_count: 3, {periods}"))
    out = tmp_path / "out"
    done = experiment(one_cpu, "--tries", 1, "--out", out)
    assert done.returncode == 0, done.stderr
    rows = read_csv(out / "outputs.csv", OutputRow)
    assert [row.chain for row in rows] == ["chain0", "chain1", "chain2"] * 2
    for row in rows:
        assert row.segments == 2
        assert row.reaction_bound_ms == pytest.approx(4 * row.period_ms)
        assert row.age_bound_ms == pytest.approx(3 * row.period_ms)
        assert row.verdict == "conditional"  # the dispatch time is not stated
        if row.varied == "20 %":
            assert row.n > 5
            assert row.age_best_ms is not None
            assert row.age_best_ms >= 2 * row.period_ms  # a deadline for each segment
            assert row.reaction_best_ms is not None
            assert row.reaction_best_ms >= 3 * row.period_ms
    assert "Longest data age / period" in (out / "report.html").read_text()


def test_ctrl_c_keeps_complete_runs_and_resume_makes_the_others(
    experiment: Command, one_cpu: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = command_line(one_cpu, "--tries", 1, "--out", out)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    journal = out / "done.jsonl"
    limit = time.monotonic() + GENEROUS_S
    while not journal.is_file() or journal.stat().st_size == 0:
        assert process.poll() is None
        assert time.monotonic() < limit
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 130
    kept = journal.read_text()
    assert 0 < len(kept.splitlines()) < 6
    done = experiment(one_cpu, "--tries", 1, "--out", out, "--resume")
    assert done.returncode == 0, done.stderr
    assert journal.read_text().startswith(kept)
    assert len(read_rows(out / "rows.csv")) == 2 * 3 * 3


@pytest.mark.parametrize("kind", [RunFailed, BadInput])
def test_a_run_that_fails_is_named_and_its_application_kept(
    one_cpu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[RclrtError]
) -> None:
    def fail(*_: object) -> None:
        raise kind("rclrt_runner ended")

    monkeypatch.setattr(live, "run_child", fail)
    kept = tmp_path / "failed.yaml"
    with StopSignals() as stop:
        runs = Live(stop, 1, None, kept)
        experiment = read_experiment(one_cpu)
        with pytest.raises(kind, match=r"small, '80 %', trial 3, preemptive: .* ended\n"):
            runs.run_unit(experiment, experiment.executors, 1.0, Unit(0, 1, 3, 1))
    assert kept.read_text().startswith("rclrt: 1")


def test_what_only_a_simulation_can_do_is_refused(
    experiment: Command, small: Path, tmp_path: Path
) -> None:
    for option in (["--jobs", 2], ["--scheduler", "tcp://host:1"]):
        done = experiment(small, *option, "--out", tmp_path / "out")
        assert done.returncode == 2
        assert "are made one after the other" in done.stderr
    small.write_text(SMALL.replace("cpus: [1]", "cpus: [900]"))
    done = experiment(small, "--out", tmp_path / "out")
    assert (done.returncode, "CPU 900 is not available" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()
