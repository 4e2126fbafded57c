# SPDX-License-Identifier: Apache-2.0
"""Sweeps on Dask: a real scheduler and workers; one worker is killed during the sweep."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rclrt_experiments.journal import opened, read_journal
from rclrt_experiments.sweep import AT_ONCE, Cores, InProcess
from rclrt_experiments.unit import Done, Unit
from rclrt_py.testing.command import Command, command
from rclrt_py.testing.waiting import GENEROUS_S, wait_for
from small_experiment import SMALL, command_line

UNITS = [Unit(0, point, trial, 0) for point in range(3) for trial in range(25)]


def answer(unit: Unit) -> Done:
    return Done(infeasible=unit.key())


def never() -> bool:
    return False


@pytest.mark.parametrize("backend", [InProcess(), Cores(2)], ids=["process", "cores"])
def test_each_unit_comes_once_with_its_own_result(backend: InProcess | Cores) -> None:
    found = list(backend.run(answer, UNITS, never))
    assert sorted(unit for unit, _ in found) == UNITS
    assert all(done.infeasible == unit.key() for unit, done in found)


@pytest.mark.parametrize("backend", [InProcess(), Cores(2)], ids=["process", "cores"])
def test_a_back_end_that_is_stopped_ends_early(backend: InProcess | Cores) -> None:
    found: list[Unit] = []
    for unit, _ in backend.run(answer, UNITS * 40, lambda: len(found) > 0):
        found.append(unit)
    assert 0 < len(found) < len(UNITS) * 40


@dataclass
class Cluster:
    """A scheduler and three workers, each in its own process."""

    address: str
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    distributed = pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1",
         "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    processes = [scheduler]
    try:
        wait_for(lambda: file.is_file() and file.stat().st_size > 0)
        address = json.loads(file.read_text())["address"]
        processes += [
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny",
                 "--no-dashboard", "--nthreads", "1", "--local-directory", str(tmp_path)],
                stderr=subprocess.DEVNULL,
            )
            for _ in range(3)
        ]  # fmt: skip
        with distributed.Client(address) as client:
            client.wait_for_workers(3, timeout=GENEROUS_S)
        yield Cluster(address, processes[1:])
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_a_worker_that_is_killed_loses_nothing_and_nothing_counts_twice(
    experiment: Command, small: Path, tmp_path: Path, cluster: Cluster
) -> None:
    small.write_text(SMALL.replace("trials: 4", "trials: 60"))
    here, there = tmp_path / "here", tmp_path / "there"
    command = command_line(small, "--simulate", "--scheduler", cluster.address, "--out", there)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    journal = there / "done.jsonl"
    wait_for(
        lambda: process.poll() is not None or (journal.is_file() and journal.stat().st_size > 0)
    )
    cluster.workers[0].kill()
    at_the_kill = len(journal.read_text().splitlines())
    _, said = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 0, said
    keys = [json.loads(line)["unit"] for line in journal.read_text().splitlines()]
    assert len(keys) == len(set(keys)) == 2 * 60 * 3
    assert 0 < at_the_kill < len(keys) - 3 * AT_ONCE  # the others continued after it
    assert experiment(small, "--simulate", "--jobs", 1, "--out", here).returncode == 0
    for name in ("rows.csv", "overheads.csv"):
        assert (here / name).read_bytes() == (there / name).read_bytes()


def test_a_search_for_violations_loses_nothing_with_a_worker(cluster: Cluster) -> None:
    few = ("--executors", "preemptive", "--instances", 500)
    line = command("verify", "--count", 60, "--seed", 9, *few, "--json")
    there = subprocess.Popen(
        [*line, "--scheduler", cluster.address], stdout=subprocess.PIPE, text=True
    )
    with importlib.import_module("distributed").Client(cluster.address) as client:
        wait_for(lambda: there.poll() is not None or len(client.has_what()) > 0)
    cluster.workers[0].kill()
    found, _ = there.communicate(timeout=GENEROUS_S)
    assert there.returncode == 0
    here = subprocess.run([*line, "--jobs", "1"], capture_output=True, text=True, check=True)
    assert json.loads(found) == json.loads(here.stdout)


def test_what_comes_twice_counts_once(tmp_path: Path) -> None:
    unit = Unit(0, 0, 1, 0)
    with opened(tmp_path / "out", {"rclrt_experiment": 1}, False) as journal:
        assert journal.add(unit, answer(unit))
        assert not journal.add(unit, Done(infeasible="of a worker that was thought dead"))
    again = tmp_path / "out" / "done.jsonl"
    with again.open("a") as stream:
        stream.write(again.read_text().replace('0/0/1/0","rows', '0/0/1/0", "rows'))
    assert read_journal(again) == {unit.key(): answer(unit)}


def test_a_scheduler_that_is_not_there_is_said(
    experiment: Command, small: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    out = tmp_path / "out"
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        done = experiment(small, "--simulate", "--scheduler", address, "--out", out)
        assert done.returncode == 2
        assert f"--scheduler {address}: no Dask scheduler answers" in done.stderr
        assert not out.exists()
