# SPDX-License-Identifier: Apache-2.0
"""Executors of one application in several processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.executors import EXECUTORS
from running import GENEROUS_S, RUNNER, rows, run, without_fork

pytestmark = without_fork

PARTS = """\
rclrt: 1
name: parts
executors:
  - {name: front, process: sensing}
  - {name: rear, process: sensing}
  - {name: motion, process: motion}
  - {name: log}
nodes:
  - {name: ahead, executor: front}
  - {name: behind, executor: rear}
  - {name: control, executor: motion}
  - {name: logger, executor: log}
callbacks:
  - {id: scan, node: ahead, timer: {period_ms: 20}, wcet_ms: 0.2, publishes: [points]}
  - {id: look, node: behind, timer: {period_ms: 20, offset_ms: 3}, wcet_ms: 0.2, publishes: [seen]}
  - {id: fuse, node: control, sync: {topics: [points, seen], window_ms: 8}, wcet_ms: 0.3,
     publishes: [fused]}
  - {id: brake, node: control, subscription: {topic: fused}, wcet_ms: 0.1, publishes: [braked]}
  - {id: keep, node: logger, subscription: {topic: braked}, wcet_ms: 0.2}
chains:
  - {id: obstacle, callbacks: [scan, fuse, brake, keep], priority: 2}
  - {id: object, callbacks: [look, fuse, brake, keep], priority: 1}
"""

WORKER = re.compile(r"(front|rear|motion) (L|run)")
"""The names of the executors' threads: for one priority or, without real time, for all."""


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    path = tmp_path / "parts.yaml"
    path.write_text(PARTS)
    return path


@pytest.mark.parametrize("executor", EXECUTORS)
def test_chains_are_followed_through_all_processes(
    parts: Path, tmp_path: Path, executor: str
) -> None:
    out = tmp_path / "out"
    done = run(parts, out, executor)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    for chain in results["chains"]:
        assert chain["released"] == 30
        assert chain["completed"] + chain["dropped"] + chain["pending"] == 30
        assert chain["completed"] > 0
    # One clock: no message was taken before it was sent, and each stage comes after the last.
    starts: dict[tuple[str, str], int] = {}
    for row in rows(out / "instances.csv"):
        for token in filter(None, row["tokens"].split(";")):
            starts[row["callback"], token] = int(row["start_ns"])
    for (callback, token), start in starts.items():
        if callback == "keep":
            assert starts["fuse", token] < starts["brake", token] < start
    hops = {(hop["from"], hop["to"]): hop for hop in results["hops"]}
    assert hops["brake", "keep"]["between"] == "processes"
    assert hops["brake", "keep"]["messages"] > 0
    assert 0 < hops["brake", "keep"]["time_ms"]["best"] <= hops["brake", "keep"]["time_ms"]["worst"]
    assert hops["fuse", "brake"]["between"] == "callbacks"
    processes: dict[str, set[int]] = {}
    for thread in results["threads"]:
        processes.setdefault(thread.get("process", ""), set()).add(thread["tid"])
    assert set(processes) == {"", "sensing", "motion"}
    assert results["context"]["rmw"].startswith("rmw_")


def children(pid: int) -> dict[str, int]:
    """Process numbers by the names that `ps` shows."""
    found = {}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            found[Path(f"/proc/{child}/comm").read_text().strip()] = int(child)
        except OSError:
            continue  # it has just gone
    return found


def is_running(pid: int) -> bool:
    try:
        # A zombie, which its parent has not waited for yet, is not running either.
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def wait_until_gone(pids: list[int]) -> None:
    end = time.monotonic() + GENEROUS_S
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < end, "processes were left behind"
        time.sleep(0.01)


@contextmanager
def long_run(app: Path, out: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, int]]]:
    """A run with its processes; it lasts an hour unless it is stopped."""
    command = [RUNNER, str(app), "--executor", "preemptive", "--seconds", "3600", "--out", str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            end = time.monotonic() + GENEROUS_S
            while not {"sensing", "motion"} <= (found := children(process.pid)).keys():
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.01)
            yield process, found
        finally:
            process.kill()


def has_worker(pid: int) -> bool:
    """Returns whether an executor of the process has a thread for callbacks."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it may have ended
            if WORKER.match((task / "comm").read_text()):
                return True
    return False


def wait_until_they_run(pids: dict[str, int]) -> None:
    end = time.monotonic() + GENEROUS_S
    while not all(has_worker(pids[name]) for name in ("sensing", "motion")):
        assert time.monotonic() < end, "no worker has started"
        time.sleep(0.01)


def wait_until_they_work(process: subprocess.Popen[str], pids: dict[str, int]) -> None:
    """Waits until the workers have slept so often that whole chains have run."""
    end = time.monotonic() + GENEROUS_S
    while min(switches(pids[name]) for name in ("sensing", "motion")) < 40:
        assert process.poll() is None
        assert time.monotonic() < end, "no worker has worked"
        time.sleep(0.01)


def switches(pid: int) -> int:
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it may have ended
            if WORKER.match((task / "comm").read_text()):
                status = (task / "status").read_text()
                found += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return found


# Right after the fork, and when they run.
@pytest.mark.parametrize("while_they_run", [False, True])
def test_one_that_dies_ends_the_run_and_is_named(
    parts: Path, tmp_path: Path, while_they_run: bool
) -> None:
    out = tmp_path / "out"
    with long_run(parts, out) as (process, pids):
        if while_they_run:
            wait_until_they_run(pids)
        os.kill(pids["motion"], signal.SIGKILL)
        _, said = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 1
    assert (
        "rclrt_runner: process 'motion' (executor motion) was ended by SIGKILL; "
        "the others were stopped\n" in said
    )
    assert not out.exists()
    wait_until_gone(list(pids.values()))


@pytest.mark.parametrize("while_they_run", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_a_stop_ends_all(
    parts: Path, tmp_path: Path, number: signal.Signals, send: Any, while_they_run: bool
) -> None:
    out = tmp_path / "out"
    with long_run(parts, out) as (process, pids):
        if while_they_run:
            wait_until_they_work(process, pids)
        send(process.pid, number)
        _, said = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 130, said
    if while_they_run:
        assert " of 3600 s; the results are in " in said
        results = json.loads((out / "results.json").read_text())
        assert results["ended"] == "interrupted"
        assert all(chain["completed"] > 0 for chain in results["chains"])
    else:
        assert "interrupted before the run began; nothing was written" in said
        assert not out.exists()
    wait_until_gone(list(pids.values()))


def test_what_was_measured_counts_also_of_a_process_that_does_not_end(
    parts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run(parts, out, "preemptive", program=os.environ["NEVER_ENDING_NODES"])
    assert done.returncode == 0, done.stderr
    for name in ("the unnamed process", "process 'sensing'", "process 'motion'"):
        assert f"rclrt: {name} (" in done.stderr
    assert done.stderr.count(") did not end within 5 s and was killed\n") == 3
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    for chain in results["chains"]:
        assert chain["released"] == 30
        assert chain["completed"] > 0


def test_a_failure_is_told_also_of_a_process_that_does_not_end(parts: Path, tmp_path: Path) -> None:
    parts.write_text(
        parts.read_text() + "threads: [{name: middleware, policy: deadline, runtime_ms: 900,\n"
        "  deadline_ms: 1000, period_ms: 1000}]\n"
    )
    out = tmp_path / "out"
    done = run(parts, out, "preemptive", "--strict", program=os.environ["NEVER_ENDING_NODES"])
    assert done.returncode == 1
    assert "SCHED_DEADLINE" in done.stderr
    assert not out.exists()


def test_one_that_is_interrupted_is_named(parts: Path, tmp_path: Path) -> None:
    with long_run(parts, tmp_path / "out") as (process, pids):
        wait_until_they_run(pids)
        os.kill(pids["sensing"], signal.SIGINT)
        _, said = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 1
    assert "process 'sensing' (executors front, rear) was interrupted; the others were" in said


def test_none_outlives_who_started_it(parts: Path, tmp_path: Path) -> None:
    with long_run(parts, tmp_path / "out") as (process, pids):
        process.kill()
        process.wait(timeout=GENEROUS_S)
        wait_until_gone(list(pids.values()))


def test_one_that_cannot_begin_says_why(parts: Path, tmp_path: Path) -> None:
    text = parts.read_text()
    parts.write_text(
        text + "threads: [{name: middleware, policy: deadline, runtime_ms: 900,\n"
        "  deadline_ms: 1000, period_ms: 1000}]\n"
    )
    done = run(parts, tmp_path / "out", "preemptive", "--strict")
    assert done.returncode == 1
    # Which of them is first is open.
    names = ("unnamed process (executor log)", "process 'sensing' (", "process 'motion' (")
    assert any(name in done.stderr.splitlines()[-1] for name in names)
    assert "SCHED_DEADLINE" in done.stderr
    assert not (tmp_path / "out").exists()
