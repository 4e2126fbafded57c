# SPDX-License-Identifier: Apache-2.0
"""`rclrt assign --robot`: files that processes of rclcpp nodes read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rclrt_py.testing.command import Rclrt

import rclrt_model

ONE_PROCESS = """
rclrt: 1
name: demo
executors: [{name: main, cpus: [2, 3]}]
nodes: [{name: lidar, namespace: /front}, {name: brake}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 20}, wcet_ms: 14, publishes: [/points]}
  - {id: stop, node: brake, subscription: {topic: /points}, wcet_ms: 1}
  - {id: watch, node: brake, timer: {period_ms: 10}, wcet_ms: 4}
  - {id: bump, node: brake, event: {min_interval_ms: 20}, wcet_ms: 1}
chains:
  - {id: obstacle, callbacks: [scan, stop], priority: 1}
  - {id: watching, callbacks: [watch], priority: 2}
  - {id: contact, callbacks: [bump], priority: 3, deadline_ms: 10}
"""
TWO_PROCESSES = ONE_PROCESS.replace(
    "[{name: main, cpus: [2, 3]}]",
    "[{name: a, process: sensing, cpus: [2]}, {name: b, process: acting, cpus: [3]}]",
).replace(
    "[{name: lidar, namespace: /front}, {name: brake}]",
    "[{name: lidar, namespace: /front, executor: a}, {name: brake, executor: b}]",
)


def robot_of(rclrt: Rclrt, text: str, directory: Path, *options: str) -> str:
    app, robot = directory / "app.yaml", directory / "robot.yaml"
    app.write_text(text)
    given = ("--robot", robot, "--dispatch-us", "0", "--evaluations", "200", *options)
    answer = rclrt("assign", app, *given)
    assert answer.code == 0, answer.err
    return robot.read_text()


def check(file: Path, *options: str) -> str:
    done = subprocess.run(
        ["rclrt_model_check", file, *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_process_has_a_robot_file_with_its_cpus_and_priorities(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    text = robot_of(rclrt, ONE_PROCESS, tmp_path)
    assert "executor: {kind: preemptive, cpus: [2, 3]}" in text
    assert "#   bump: priority" in text
    check(tmp_path / "robot.yaml", "--robot")
    priority = {
        (entry.node, entry.kind, entry.name): entry.priority
        for entry in rclrt_model.load_node_timings(tmp_path / "robot.yaml")
    }
    assert set(priority) == {
        ("/front/lidar", "timer", "0"),
        ("/brake", "subscription", "/points"),
        ("/brake", "timer", "0"),
    }


@pytest.mark.parametrize("layout", ["partitioned", "global"])
def test_several_processes_are_in_one_file_of_the_host(
    layout: str, tmp_path: Path, rclrt: Rclrt
) -> None:
    text = robot_of(rclrt, TWO_PROCESSES, tmp_path, "--layout", layout)
    assert '- name: "sensing"\n' in text
    assert '- name: "acting"\n' in text
    said = check(tmp_path / "robot.yaml", "--host")
    assert "ok: 2 processes, " in said
    if layout == "global":
        # On the same CPUs, no level has callbacks of both.
        levels = [line for line in said.splitlines() if "SCHED_FIFO" in line]
        assert not any("sensing, acting" in line for line in levels if "priority 0:" not in line)


def test_what_a_robot_file_cannot_state_is_refused(tmp_path: Path, rclrt: Rclrt) -> None:
    app, robot = tmp_path / "app.yaml", tmp_path / "robot.yaml"
    app.write_text(ONE_PROCESS)
    for options, fix in (
        (("--unit", "group"), "leave out --unit"),
        (("--json", "--robot", "-"), "leave out one of the two"),
        (("-o", "-", "--robot", "-"), "name a file"),
        (("-o", robot), "name two files"),
        (("-o", tmp_path), "expected the name of a file"),
    ):
        answer = rclrt("assign", app, "--robot", robot, *options)
        assert answer.code == 2
        assert fix in answer.err
    app.write_text(TWO_PROCESSES)
    answer = rclrt("assign", app, "--robot", robot, "--executor", "picas", "--dispatch-us", "0")
    assert answer.code == 2
    assert "picas orders the executors of one process" in answer.err
    assert not robot.exists()


def test_whole_nodes_stay_together_if_that_is_asked_for(tmp_path: Path, rclrt: Rclrt) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(ONE_PROCESS)
    options = ("--layout", "partitioned", "--evaluations", "300", "--json")
    result = rclrt("assign", app, "--unit", "node", *options).json
    assert [node["callbacks"] for node in result["nodes"]] == [[], []]
