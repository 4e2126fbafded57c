# SPDX-License-Identifier: Apache-2.0
"""Executors of one application on several hosts, and the loss of one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.namespaces import HOSTS, TwoHosts, two_hosts
from running import GENEROUS_S, rows, without_fork
from running_hosts import APPLICATION, RIGHT, agent, end_of, results_of, runner

pytestmark = without_fork


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "two.yaml"
    path.write_text(APPLICATION)
    return path


@pytest.fixture(scope="module")
def hosts() -> Iterator[TwoHosts]:
    with two_hosts() as made:
        yield made


def check_run(out: Path) -> dict[str, Any]:
    """Checks that all releases of both hosts are there, in one time. Returns the host's results."""
    results = results_of(out)
    assert "ended" not in results
    for chain in results["chains"]:
        assert chain["released"] == 50
        assert chain["completed"] > 10
    host: dict[str, Any] = results["hosts"][1]
    assert results["hosts"][0]["compared_with"] is None
    assert host["name"] == RIGHT
    assert host["lost"] is None
    assert host["received"] >= 50
    error_ns = host["most_error_ms"] * 1e6
    if error_ns > 5e6:
        pytest.skip(f"a busy machine: the clocks are known to {host['most_error_ms']} ms only")
    counts = {"look": 0, "tick": 0}
    for row in rows(out / "instances.csv"):
        assert int(row["ready_ns"]) <= int(row["start_ns"]) <= int(row["end_ns"])
        assert -error_ns <= int(row["end_ns"]) < 10e9
        if row["callback"] in counts:
            counts[row["callback"]] += 1
            late_ns = int(row["release_ns"]) % 20_000_000
            assert min(late_ns, 20_000_000 - late_ns) <= error_ns
    assert min(counts.values()) > 25
    return host


def test_two_hosts_run_one_application_from_one_epoch(
    app: Path, tmp_path: Path, hosts: TwoHosts
) -> None:
    enter_left, enter_right = (hosts.command(host, []) for host in HOSTS)
    with agent(enter_right, "SUBNET") as (other, served):
        run = runner(app, tmp_path / "out", other, enter=enter_left, discovery="SUBNET")
        code, errors = end_of(run)
        assert code == 0, errors
        assert served.wait(GENEROUS_S) == 0
    host = check_run(tmp_path / "out")
    assert host["machine"] == RIGHT
    results = results_of(tmp_path / "out")
    hops = {(hop["from"], hop["to"]): hop for hop in results["hops"]}
    assert hops["look", "move"]["between"] == "hosts"
    assert hops["look", "move"]["messages"] > 10
    assert hops["move", "check"]["time_ms"]["best"] >= 0


def test_the_clocks_of_the_hosts_may_differ_by_any_time(app: Path, tmp_path: Path) -> None:
    """In a time namespace, CLOCK_MONOTONIC is 1000 s ahead."""
    enter = ["unshare", "--time", "--monotonic", "1000"]
    if subprocess.run([*enter, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("time namespaces are not permitted here")
    with agent(enter) as (other, served):
        offsets = Path(f"/proc/{served.pid}/timens_offsets")
        while "unshare" in Path(f"/proc/{served.pid}/comm").read_text():
            time.sleep(0.01)
        assert offsets.read_text().split()[1] == "1000"
        assert (
            Path(f"/proc/{served.pid}/ns/time").readlink() != Path("/proc/self/ns/time").readlink()
        )
        code, errors = end_of(runner(app, tmp_path / "out", other))
    assert code == 0, errors
    check_run(tmp_path / "out")


def wait_until_it_runs(out: Path, run: subprocess.Popen[str]) -> None:
    """Waits for the results of a long run that are written while it goes on."""
    end = time.monotonic() + GENEROUS_S
    while not (out / "results.json").exists():
        assert run.poll() is None, end_of(run)
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_host_that_dies_is_named_and_what_was_measured_before_is_kept(
    app: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with agent() as (other, served):
        run = runner(app, out, other, 3600)
        wait_until_it_runs(out, run)
        os.killpg(served.pid, signal.SIGKILL)
        code, errors = end_of(run)
    assert code == 1
    assert "host 'right': closed the connection; the results of the first " in errors
    results = results_of(out)
    assert results["ended"] == "interrupted"
    assert results["hosts"][1]["lost"] == "closed the connection"
    assert results["duration_s"] > 0.5
    for chain in results["chains"]:
        assert chain["completed"] > 20


def test_a_host_that_hangs_is_named(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with agent() as (other, served):
        run = runner(app, out, other, 3600)
        wait_until_it_runs(out, run)
        os.killpg(served.pid, signal.SIGSTOP)
        code, errors = end_of(run)
        os.killpg(served.pid, signal.SIGCONT)
    assert code == 1
    assert "host 'right': has not answered for ten seconds; the results of the first " in errors


def test_ctrl_c_ends_the_run_of_all_hosts(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with agent() as (other, served):
        run = runner(app, out, other, 3600)
        wait_until_it_runs(out, run)
        os.killpg(run.pid, signal.SIGINT)
        code, errors = end_of(run)
        assert served.wait(GENEROUS_S) == 0
    assert code == 130, errors
    results = results_of(out)
    assert results["ended"] == "interrupted"
    assert results["hosts"][1]["lost"] is None


def test_an_agent_that_is_stopped_is_named_and_what_was_measured_is_kept(
    app: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with agent() as (other, served):
        run = runner(app, out, other, 3600)
        wait_until_it_runs(out, run)
        os.kill(served.pid, signal.SIGINT)
        code, errors = end_of(run)
    assert code == 1
    assert "host 'right': its agent was stopped there; the results of the first " in errors
    assert results_of(out)["hosts"][1]["lost"] == "its agent was stopped there"


def test_an_agent_ends_with_a_run_if_its_coordinator_is_killed(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with agent() as (other, served):
        run = runner(app, out, other, 3600)
        wait_until_it_runs(out, run)
        os.killpg(run.pid, signal.SIGKILL)
        end_of(run)
        _, errors = served.communicate(timeout=GENEROUS_S)
        assert served.returncode == 1
    assert "the host that coordinates the run closed the connection" in errors
