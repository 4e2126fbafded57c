# SPDX-License-Identifier: Apache-2.0
"""`rclrt compare` with a fake runner in a process of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from rclrt_py.executors import EXECUTORS as ALL
from rclrt_py.testing.synthetic_run import EXECUTORS
from rclrt_py.testing.workspace import Workspace

PAIR = ("--executors", "wait_set,preemptive")


def test_rounds_are_interleaved_and_share_the_seconds(workspace: Workspace) -> None:
    done = workspace.run(
        "compare", workspace.app, "--seconds", "3", "--rounds", "2", "--out", str(workspace.out)
    )
    assert done.returncode == 0, done.stderr
    calls = workspace.calls()
    assert [call[call.index("--executor") + 1] for call in calls] == [*EXECUTORS, *EXECUTORS]
    assert {call[call.index("--seconds") + 1] for call in calls} == {"1.5"}


APP = """
rclrt: 1
name: two
executors:
  - {{name: one, cpus: {one}, top_priority: {top}}}
  - {{name: other, cpus: {one}, top_priority: 50}}
nodes: [{{name: a, executor: one}}, {{name: b, executor: other}}]
callbacks:
  - {{id: a, node: a, timer: {{period_ms: 10}}, wcet_ms: 1}}
  - {{id: b, node: b, timer: {{period_ms: 10}}, wcet_ms: 1}}
chains: [{{id: a, callbacks: [a], priority: 1}}, {{id: b, callbacks: [b], priority: 1}}]
"""


def test_all_are_all_but_edf_where_an_executor_has_several_cpus(workspace: Workspace) -> None:
    pytest.importorskip("rclrt_model")
    compare = ("compare", workspace.app, "--seconds", "1", "--rounds", "1")
    for cpus, expected in (("[0]", ALL), ("[0, 1]", [name for name in ALL if name != "edf"])):
        Path(workspace.app).write_text(APP.format(one=cpus, top=60))
        out = workspace.root / f"out{len(expected)}"
        done = workspace.run(*compare, "--executors", "all", "--out", str(out))
        assert done.returncode == 0, done.stderr
        assert json.loads((out / "results.json").read_text())["missing"] == []
        ran = [
            executor["executor"]
            for executor in json.loads((out / "results.json").read_text())["executors"]
        ]
        assert ran == list(expected)
    done = workspace.run(*compare, "--executors", "edf,picas", "--out", str(workspace.out))
    assert done.returncode == 2
    assert "edf runs on one CPU, and executor 'one' of" in done.stderr
    assert not workspace.out.exists()


@pytest.mark.parametrize("verb", ["analyze", "compare"])
def test_priorities_that_picas_cannot_have_are_bad_input(workspace: Workspace, verb: str) -> None:
    pytest.importorskip("rclrt_analysis")
    Path(workspace.app).write_text(APP.format(one="[0]", top=50))
    how = ["--executor", "picas"]
    if verb == "compare":
        how = ["--executors", "picas", "--seconds", "1", "--bounds", "--out", str(workspace.out)]
    done = workspace.run(verb, workspace.app, *how)
    assert done.returncode == 2
    assert "executors 'one' and 'other' share a CPU and have top_priority 50" in done.stderr
    assert "Traceback" not in done.stderr
    assert not workspace.out.exists()


def test_everything_is_written_and_nothing_else(workspace: Workspace) -> None:
    done = workspace.run(
        "compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)
    )
    assert done.returncode == 0, done.stderr
    names = {path.name for path in workspace.out.iterdir()}
    assert names - {"application.json"} == {
        ".rclrt",
        "results.json",
        "report.html",
        "trace.pftrace",
        "wait_set",
        "preemptive",
    }
    rounds = {path.name for path in (workspace.out / "wait_set").iterdir()}
    assert rounds == {"round-1", "round-2"}
    files = {path.name for path in (workspace.out / "wait_set/round-1").iterdir()}
    assert files == {"results.json", "chains.csv", "instances.csv", "trace.pftrace"}
    assert not (workspace.root / "nowhere").exists()


def test_the_trace_joins_the_first_rounds_in_the_order_of_the_executors(
    workspace: Workspace,
) -> None:
    workspace.run("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out))
    assert (workspace.out / "trace.pftrace").read_bytes() == b"<wait_set 1><preemptive 1>"


def test_results_name_rounds_seconds_and_baseline(workspace: Workspace) -> None:
    workspace.run("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out))
    results = workspace.results()
    assert results["rclrt_comparison"] == 1
    assert (results["rounds"], results["seconds"], results["baseline"]) == (2, 2.0, "wait_set")
    assert results["missing"] == []
    assert [item["executor"] for item in results["executors"]] == ["wait_set", "preemptive"]
    assert [item["rounds"] for item in results["executors"]] == [2, 2]


def test_the_table_shows_the_baselines_label_ratios_and_counts(workspace: Workspace) -> None:
    done = workspace.run(
        "compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)
    )
    assert "wait set (rclcpp semantics)" in done.stdout
    assert "ratio" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()[:-1]) <= 120


def test_without_a_terminal_progress_is_one_plain_line_per_run(workspace: Workspace) -> None:
    done = workspace.run(
        "compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("round ")]
    assert len(lines) == 4
    assert "obstacle missed" in lines[0]
    assert "\r" not in done.stderr


def test_strict_and_ros_arguments_reach_the_runner(workspace: Workspace) -> None:
    done = workspace.run(
        *("compare", workspace.app, *PAIR, "--rounds", "1", "--seconds", "1", "--strict"),
        *("--out", str(workspace.out), "--", "-r", "points:=cloud"),
    )
    assert done.returncode == 0, done.stderr
    for call in workspace.calls():
        assert call[-4:] == ["--strict", "--ros-args", "-r", "points:=cloud"]


def test_what_the_runner_has_to_say_is_said_once(workspace: Workspace) -> None:
    behaviour = {"wait_set#1": "note", "wait_set#2": "note", "preemptive#1": "note"}
    done = workspace.run(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour=behaviour,
    )
    assert done.stderr.count("SCHED_FIFO denied") == 1


def test_a_crash_keeps_the_rounds_before_it_and_answers_no(workspace: Workspace) -> None:
    done = workspace.run(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#2": "crash"},
    )
    assert done.returncode == 1
    assert "was ended by SIGSEGV" in done.stderr
    assert "something broke" in done.stderr
    assert workspace.results()["missing"] == [{"executor": "preemptive", "round": 2}]
    assert not (workspace.out / ".partial").exists()


def test_a_run_with_broken_files_does_not_count(workspace: Workspace) -> None:
    done = workspace.run(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)),
        behaviour={"preemptive#2": "broken"},
    )
    assert done.returncode == 2
    assert "chains.csv:1: the header is 'nonsense'" in done.stderr
    assert workspace.results()["missing"] == [{"executor": "preemptive", "round": 2}]


@pytest.mark.parametrize(
    ("behaviour", "code", "message"),
    [
        ("bad-input", 2, "app.yaml:3:5: unknown key 'nodez'"),
        ("crash", 1, "was ended by SIGSEGV"),
        ("silent", 1, "wrote no results.json"),
    ],
)
def test_when_the_first_run_fails_nothing_is_left(
    workspace: Workspace, behaviour: str, code: int, message: str
) -> None:
    done = workspace.run(
        *("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out / "deep")),
        behaviour={"wait_set#1": behaviour},
    )
    assert done.returncode == code
    assert message in done.stderr
    assert not workspace.out.exists()


def test_it_replaces_its_own_results_and_keeps_the_users_files(workspace: Workspace) -> None:
    command = ("compare", workspace.app, *PAIR, "--out", str(workspace.out))
    workspace.run(*command, "--seconds", "3", "--rounds", "3")
    (workspace.out / "notes.txt").write_text("mine")
    done = workspace.run(*command, "--seconds", "1", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (workspace.out / "wait_set").iterdir()} == {"round-1"}
    assert (workspace.out / "notes.txt").read_text() == "mine"


def test_it_refuses_a_directory_it_did_not_write(workspace: Workspace) -> None:
    workspace.out.mkdir()
    (workspace.out / "thesis.tex").write_text("important")
    done = workspace.run("compare", workspace.app, "--out", str(workspace.out))
    assert done.returncode == 2
    assert "is not empty and was not written by rclrt; name a new directory" in done.stderr
    assert [path.name for path in workspace.out.iterdir()] == ["thesis.tex"]
    assert workspace.calls() == []


def test_an_empty_directory_is_used(workspace: Workspace) -> None:
    workspace.out.mkdir()
    done = workspace.run(
        *("compare", workspace.app, *PAIR, "--seconds", "1", "--rounds", "1"),
        *("--out", str(workspace.out)),
    )
    assert done.returncode == 0, done.stderr


def test_fail_on_miss_does_not_hold_the_baselines_misses_against_the_others(
    workspace: Workspace,
) -> None:
    command = ("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out))
    done = workspace.run(*command, "--fail-on-miss", "obstacle")
    assert done.returncode == 0, done.stderr
    (baseline,) = (
        item for item in workspace.results()["executors"] if item["executor"] == "wait_set"
    )
    assert next(c for c in baseline["chains"] if c["id"] == "obstacle")["missed"] > 0


def test_fail_on_miss_answers_no_and_says_which(workspace: Workspace) -> None:
    command = ("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out))
    done = workspace.run(*command, "--fail-on-miss")
    assert done.returncode == 1
    assert "preemptive: chain mapping missed" in done.stderr
    assert (workspace.out / "report.html").exists()


def test_a_comparison_that_was_killed_can_still_be_reported(workspace: Workspace) -> None:
    workspace.run("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out))
    # As if it had been killed in the second round.
    for name in ("results.json", "report.html", "trace.pftrace"):
        (workspace.out / name).unlink()
    (workspace.out / "preemptive/round-2/results.json").unlink()
    done = workspace.run("report", str(workspace.out))
    assert done.returncode == 0, done.stderr
    assert "Missing: preemptive, round 2" in done.stdout
    assert workspace.results()["missing"] == [{"executor": "preemptive", "round": 2}]
    assert (workspace.out / "report.html").exists()


def test_a_report_made_again_says_the_same(workspace: Workspace) -> None:
    first = workspace.run(
        "compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out)
    )
    page = (workspace.out / "report.html").read_bytes()
    second = workspace.run("report", str(workspace.out))
    assert second.returncode == 0, second.stderr
    assert second.stdout == first.stdout
    assert (workspace.out / "report.html").read_bytes() == page


def test_a_report_can_be_written_elsewhere_and_still_finds_the_trace(workspace: Workspace) -> None:
    workspace.run("compare", workspace.app, *PAIR, "--seconds", "2", "--out", str(workspace.out))
    elsewhere = workspace.root / "page.html"
    done = workspace.run("report", str(workspace.out), "-o", str(elsewhere))
    assert done.returncode == 0, done.stderr
    assert '"trace":"out/trace.pftrace"' in elsewhere.read_text()


def test_run_measures_one_executor(workspace: Workspace) -> None:
    done = workspace.run(
        *("run", workspace.app, "--executor", "preemptive", "--seconds", "2"),
        *("--out", str(workspace.out)),
    )
    assert done.returncode == 0, done.stderr
    names = {path.name for path in workspace.out.iterdir()} - {"application.json", ".rclrt"}
    assert names == {
        *("results.json", "chains.csv", "instances.csv", "trace.pftrace", "report.html")
    }
    assert workspace.results()["executor"] == "preemptive"
    assert "ratio" not in done.stdout


def test_files_are_readable_by_others_as_the_umask_says(workspace: Workspace) -> None:
    old = os.umask(0o022)
    try:
        workspace.run(
            "compare", workspace.app, *PAIR, "--seconds", "1", "--out", str(workspace.out)
        )
    finally:
        os.umask(old)
    assert (workspace.out / "results.json").stat().st_mode & 0o777 == 0o644


def test_the_plan_is_kept_in_the_marker(workspace: Workspace) -> None:
    workspace.run("compare", workspace.app, *PAIR, "--seconds", "1", "--out", str(workspace.out))
    marker = json.loads(Path(workspace.out / ".rclrt").read_text())
    assert marker["kind"] == "comparison"
    assert marker["executors"] == ["wait_set", "preemptive"]
