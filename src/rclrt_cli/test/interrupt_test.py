# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: the measured program is ended cleanly, and complete results are kept."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from rclrt_py.testing.waiting import GENEROUS_S, wait_for
from rclrt_py.testing.workspace import Workspace

PAIR = ("--executors", "wait_set,preemptive")


def interrupt(
    workspace: Workspace, child: subprocess.Popen[str], number: int = signal.SIGINT
) -> tuple[str, str]:
    """Sends the signal once the fake runner waits. Returns the output of the command."""
    wait_for((workspace.state / "blocked").exists)
    child.send_signal(number)
    return child.communicate(timeout=GENEROUS_S)


def runner_is_gone(workspace: Workspace) -> bool:
    """Returns whether the runner has ended, even if its exit code was not collected."""
    pid = int((workspace.state / "blocked").read_text())
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def signals(workspace: Workspace) -> list[str]:
    return (workspace.state / "signals").read_text().split()


def test_complete_rounds_are_merged_and_the_missing_ones_named(workspace: Workspace) -> None:
    child = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#2": "block"},
    )
    _, errors = interrupt(workspace, child)
    assert child.returncode == 130
    assert "missing: preemptive round 2" in errors
    results = workspace.results()
    assert results["missing"] == [{"executor": "preemptive", "round": 2}]
    assert [item["rounds"] for item in results["executors"]] == [2, 1]
    assert (workspace.out / "report.html").exists()
    assert not (workspace.out / ".partial").exists()
    assert signals(workspace) == ["SIGINT"]
    assert runner_is_gone(workspace)


def test_a_run_that_was_cut_short_does_not_count_as_a_round(workspace: Workspace) -> None:
    child = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"wait_set#2": "block-and-write"},
    )
    interrupt(workspace, child)
    assert child.returncode == 130
    assert [item["rounds"] for item in workspace.results()["executors"]] == [1, 1]
    assert not (workspace.out / "wait_set/round-2").exists()


def test_an_executor_without_a_complete_round_is_left_out(workspace: Workspace) -> None:
    child = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#1": "block"},
    )
    _, errors = interrupt(workspace, child)
    assert child.returncode == 130
    assert [item["executor"] for item in workspace.results()["executors"]] == ["wait_set"]
    assert "wait_set round 2, preemptive round 1, preemptive round 2" in errors


def test_stopped_in_the_first_run_it_leaves_nothing(workspace: Workspace) -> None:
    child = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"wait_set#1": "block"},
    )
    _, errors = interrupt(workspace, child)
    assert child.returncode == 130
    assert "nothing was written" in errors
    assert not workspace.out.exists()


def test_a_single_run_that_was_stopped_keeps_what_the_runner_wrote(workspace: Workspace) -> None:
    child = workspace.start(
        *("run", workspace.app, "--executor", "preemptive", "--seconds", "2"),
        *("--out", str(workspace.out)),
        behaviour={"preemptive#1": "block-and-write"},
    )
    _, errors = interrupt(workspace, child)
    assert child.returncode == 130
    assert "stopped after 1.0 of 2 s" in errors
    assert workspace.results()["duration_s"] == 1.0


def test_a_run_whose_program_is_killed_keeps_what_it_had_written(workspace: Workspace) -> None:
    done = workspace.run(
        *("run", workspace.app, "--executor", "preemptive", "--seconds", "4"),
        *("--out", str(workspace.out), "--keep", "10"),
        behaviour={"preemptive#1": "write-and-crash"},
    )
    assert done.returncode == 1
    assert "rclrt_runner was ended by SIGKILL and printed:\n  something broke" in done.stderr
    assert f"the results of the first 2.0 s are in {workspace.out}" in done.stderr
    assert "the run had not ended when these results were written" in " ".join(done.stdout.split())
    results = workspace.results()
    assert results["ended"] == "running"
    assert (workspace.out / "histograms.csv").exists()
    assert (workspace.out / "report.html").exists()
    assert not (workspace.out / ".partial").exists()
    (call,) = workspace.calls()
    assert call[call.index("--keep") + 1] == "10"


def test_a_round_whose_program_is_killed_does_not_count(workspace: Workspace) -> None:
    done = workspace.run(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#2": "write-and-crash"},
    )
    assert done.returncode == 1
    assert "rclrt_runner was ended by SIGKILL" in done.stderr
    assert [item["rounds"] for item in workspace.results()["executors"]] == [2, 1]


def test_a_program_that_does_not_stop_is_terminated_by_the_second_ctrl_c(
    workspace: Workspace,
) -> None:
    child = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#1": "stubborn"},
    )
    wait_for((workspace.state / "blocked").exists)
    child.send_signal(signal.SIGINT)
    wait_for(lambda: (workspace.state / "signals").exists() and bool(signals(workspace)))
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=GENEROUS_S)
    assert child.returncode == 130
    assert signals(workspace) == ["SIGINT", "SIGTERM"]
    assert runner_is_gone(workspace)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it_like_ctrl_c_with_an_exit_code_of_their_own(
    workspace: Workspace, number: signal.Signals
) -> None:
    child = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#2": "block"},
    )
    interrupt(workspace, child, number)
    assert child.returncode == 128 + number
    assert signals(workspace) == ["SIGINT"]
    assert len(workspace.results()["missing"]) == 1


def test_what_measures_ends_with_a_command_that_is_killed(workspace: Workspace) -> None:
    child = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#1": "block"},
    )
    wait_for((workspace.state / "blocked").exists)
    child.kill()
    child.communicate(timeout=GENEROUS_S)
    wait_for(lambda: runner_is_gone(workspace))


def test_two_commands_do_not_write_into_one_directory(workspace: Workspace) -> None:
    first = workspace.start(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"wait_set#1": "block"},
    )
    wait_for((workspace.state / "blocked").exists)
    second = workspace.run("compare", workspace.app, *PAIR, "--out", str(workspace.out))
    assert second.returncode == 2
    assert "another rclrt command is writing there" in second.stderr
    os.kill(first.pid, signal.SIGINT)
    first.communicate(timeout=GENEROUS_S)
    assert first.returncode == 130
