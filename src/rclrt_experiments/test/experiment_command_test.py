# SPDX-License-Identifier: Apache-2.0
"""`rclrt experiment --simulate`, called like by a user."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from rclrt_experiments.experiment import bundled, load_experiment
from rclrt_experiments.journal import read_journal
from rclrt_experiments.settings import SAY_EACH_S, Clock
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S
from small_experiment import SMALL, command_line, read_overheads, read_rows

COLUMNS = (
    "experiment,executor,varied,trial,seed,chain,period_ms,utilisation,n,best_ms,mean_ms,worst_ms,"
    "normalised_worst,jitter,missed,bound_ms,verdict,from_start_worst,from_start_jitter"
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_without_a_terminal_progress_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    clock = Clock(10, 40)
    assert not clock.is_due()
    now += SAY_EACH_S
    clock.count = 20
    assert clock.is_due()
    assert clock.text("mine") == "20 of 40, 2 min 00 s left  mine"
    assert not clock.is_due()
    now += SAY_EACH_S
    assert clock.is_due()


def test_there_is_a_row_for_each_chain_executor_trial_and_point(
    experiment: Command, small: Path, out: Path
) -> None:
    done = experiment(small, "--simulate", "--out", out)
    assert done.returncode == 0, done.stderr
    assert (out / "rows.csv").read_text().splitlines()[0] == COLUMNS
    rows = read_rows(out / "rows.csv")
    assert len(rows) == 2 * 4 * 3 * 3
    assert {row.trial for row in rows} == {1, 2, 3, 4}
    assert all(row.seed == row.trial for row in rows)
    for row in rows:
        assert row.best_ms is not None
        assert row.mean_ms is not None
        assert row.worst_ms is not None
        assert row.best_ms <= row.mean_ms <= row.worst_ms
        assert row.normalised_worst == pytest.approx(row.worst_ms / row.period_ms)
        assert row.jitter == pytest.approx((row.worst_ms - row.best_ms) / row.period_ms, abs=1e-6)
    assert {row.measure for row in read_overheads(out / "overheads.csv")} == {"ready", "launch"}


def test_no_proved_chain_misses_and_no_response_is_above_its_bound(
    experiment: Command, small: Path, out: Path
) -> None:
    assert experiment(small, "--simulate", "--out", out).returncode == 0
    rows = read_rows(out / "rows.csv")
    assert any(row.verdict == "proved" for row in rows)
    for row in rows:
        assert row.bound_ms is None or row.worst_ms is None or row.worst_ms <= row.bound_ms
        assert row.verdict != "proved" or row.missed == 0


def test_executors_get_the_same_applications(experiment: Command, small: Path, out: Path) -> None:
    assert experiment(small, "--simulate", "--out", out).returncode == 0
    rows = read_rows(out / "rows.csv")
    of = {
        name: [(r.varied, r.trial, r.chain, r.period_ms, r.utilisation) for r in rows
               if r.executor == name]
        for name in ("wait_set", "preemptive", "thread_dispatch+synthesis")
    }  # fmt: skip
    assert of["wait_set"] == of["preemptive"] == of["thread_dispatch+synthesis"]


def test_executors_may_have_options(experiment: Command, small: Path, out: Path) -> None:
    names = "wait_set:threads=2,static_order:let:trigger=any,preemptive+synthesis"
    done = experiment(small, "--simulate", "--executors", names, "--out", out)
    assert done.returncode == 0, done.stderr
    rows = read_rows(out / "rows.csv")
    verdicts = {name: {row.verdict for row in rows if row.executor == name} for name in
                ("wait_set:threads=2", "static_order:let", "preemptive+synthesis")}  # fmt: skip
    assert "proved" in verdicts["wait_set:threads=2"] & verdicts["static_order:let"]
    assert "proved" in verdicts["preemptive+synthesis"]
    assert "wait_set:threads=2" in (out / "report.html").read_text(encoding="utf-8")


def test_the_rows_depend_neither_on_the_number_of_processes_nor_on_the_time(
    experiment: Command, small: Path, tmp_path: Path
) -> None:
    made: list[list[bytes]] = []
    for jobs in (1, 2, 2):
        out = tmp_path / f"out{len(made)}"
        assert experiment(small, "--simulate", "--jobs", jobs, "--out", out).returncode == 0
        made.append([(out / name).read_bytes() for name in ("rows.csv", "overheads.csv")])
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("name", bundled())
def test_each_bundled_experiment_simulates_quickly(
    experiment: Command, out: Path, name: str
) -> None:
    done = experiment(name, "--simulate", "--quick", "--out", out)
    assert done.returncode == 0, done.stderr
    rows = read_rows(out / "rows.csv")
    assert {row.experiment for row in rows} == {name}
    assert {row.trial for row in rows} == {1}
    own = load_experiment(name)
    assert {(row.varied, row.executor) for row in rows} == {
        (point.label, executor) for point in own.points for executor in own.executors
    }


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    """Returns whether the process runs. A zombie does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("killed_by", [signal.SIGKILL, signal.SIGINT])
def test_after_a_kill_in_the_middle_resume_gives_what_there_would_be_without(
    experiment: Command, small: Path, tmp_path: Path, killed_by: signal.Signals, jobs: int
) -> None:
    small.write_text(SMALL.replace("trials: 4", "trials: 40"))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert experiment(small, "--simulate", "--out", whole).returncode == 0
    command = command_line(small, "--simulate", "--jobs", jobs, "--out", killed)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    journal = killed / "done.jsonl"
    limit = time.monotonic() + GENEROUS_S
    while not journal.is_file() or journal.stat().st_size == 0:
        assert process.poll() is None
        assert time.monotonic() < limit
    workers = children_of(process.pid)
    assert len(workers) == (jobs if jobs > 1 else 0)
    process.send_signal(killed_by)
    _, said = process.communicate(timeout=GENEROUS_S)
    while any(map(is_running, workers)):
        assert time.monotonic() < limit  # no worker continues without the command
    done = journal.read_text().splitlines()
    assert 0 < len(done) < 2 * 40 * 3
    if killed_by == signal.SIGINT:
        assert process.returncode == 130
        assert "are missing: continue with --resume" in said
        assert len(read_rows(killed / "rows.csv")) == 3 * len(done)
    else:
        with journal.open("a") as stream:  # like after a kill in the middle of a line
            stream.write('{"unit": "0/0/')
        assert len(read_journal(journal)) == len(done)
        assert journal.read_text().endswith('{"unit": "0/0/')  # reading does not change it
    resumed = experiment(small, "--simulate", "--out", killed, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    for name in ("rows.csv", "overheads.csv"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


def test_what_is_complete_is_left_alone(experiment: Command, small: Path, out: Path) -> None:
    assert experiment(small, "--simulate", "--out", out).returncode == 0
    before = (out / "done.jsonl").read_bytes()
    assert experiment(small, "--simulate", "--out", out, "--resume").returncode == 0
    assert (out / "done.jsonl").read_bytes() == before


def test_bad_options_say_so_and_write_nothing(
    experiment: Command, small: Path, tmp_path: Path
) -> None:
    full, file = tmp_path / "full", tmp_path / "file"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    file.write_text("")
    cases: list[tuple[list[str | Path | int], Path, str]] = [
        (["nothing"], tmp_path / "a", "unknown experiment 'nothing'"),
        ([tmp_path / "no.yaml"], tmp_path / "a", "no.yaml"),
        ([small, "--executors", "x"], tmp_path / "a", "unknown executor 'x'"),
        ([small, "--executors", "edf,edf"], tmp_path / "a", "more than once"),
        ([small, "--executors", "edf:fast"], tmp_path / "a", "executor edf has no options"),
        ([small, "--executors", "wait_set,wait_set:threads=1"], tmp_path / "a", "more than once"),
        ([small, "--seconds", "0"], tmp_path / "a", "is not a time"),
        ([small, "--trials", "0"], tmp_path / "a", "--trials"),
        ([small, "--jobs", 2, "--scheduler", "tcp://x:1"], tmp_path / "a", "one of the two"),
        ([small], full, "is not empty"),
        ([small], file, "is a file"),
    ]
    for arguments, out, said in cases:
        done = experiment(*arguments, "--simulate", "--out", out)
        assert done.returncode == 2, arguments
        assert said in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full", "small.yaml"]
    assert [path.name for path in full.iterdir()] == ["mine.txt"]


def test_a_directory_goes_on_only_with_what_it_was_begun_with(
    experiment: Command, small: Path, out: Path
) -> None:
    assert experiment(small, "--simulate", "--out", out).returncode == 0
    before = (out / "rows.csv").read_bytes()
    again = experiment(small, "--simulate", "--out", out)
    assert (again.returncode, "continue it with --resume" in again.stderr) == (2, True)
    other = experiment(small, "--simulate", "--out", out, "--resume", "--trials", 5)
    assert (other.returncode, "begun with another experiments" in other.stderr) == (2, True)
    for option in (["--quick"], ["--seconds", 3]):
        other = experiment(small, "--simulate", "--out", out, "--resume", *option)
        assert (other.returncode, "begun with another" in other.stderr) == (2, True)
    (out / "done.jsonl").write_text("nonsense\n")
    broken = experiment(small, "--simulate", "--out", out, "--resume")
    assert (broken.returncode, "done.jsonl:1: " in broken.stderr) == (2, True)
    assert (out / "rows.csv").read_bytes() == before


def test_what_has_no_application_is_left_out(experiment: Command, small: Path, out: Path) -> None:
    small.write_text(SMALL.replace("util_total: 0.8", "util_total: 2.5"))
    done = experiment(small, "--simulate", "--out", out)
    assert done.returncode == 0, done.stderr
    assert {row.varied for row in read_rows(out / "rows.csv")} == {"20 %"}
    lines = [json.loads(line) for line in (out / "done.jsonl").read_text().splitlines()]
    assert sum("utilisation" in line["infeasible"] for line in lines) == 4 * 3


def test_a_directory_that_was_only_just_begun_is_a_new_one(
    experiment: Command, small: Path, out: Path
) -> None:
    out.mkdir()
    (out / "experiment.json").write_text("")  # like after a kill before the first byte
    done = experiment(small, "--simulate", "--out", out, "--resume")
    assert done.returncode == 0, done.stderr
    assert len(read_rows(out / "rows.csv")) == 2 * 4 * 3 * 3
