# SPDX-License-Identifier: Apache-2.0
"""Real LTTng sessions that overlap, follow each other, or hold processes of the same number."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from traced_runs import rclrt

import rclrt_model

APP = """\
rclrt: 1
name: rover
nodes: [{name: imu, namespace: /NAME}, {name: drive, namespace: /NAME}]
callbacks:
  - {id: NAME_tick, node: imu, timer: {period_ms: 20}, wcet_ms: 0.2, publishes: [/NAME/pose]}
  - {id: NAME_steer, node: drive, subscription: {topic: /NAME/pose}, wcet_ms: 0.2}
chains: [{id: NAME_react, callbacks: [NAME_tick, NAME_steer]}]
"""
RCLRT = [sys.executable, "-m", "rclrt_cli"]

pytestmark = pytest.mark.skipif(
    shutil.which("lttng-sessiond") is None and "CI" not in os.environ,
    reason="there is no lttng-sessiond (Debian: lttng-tools)",
)


def run_of(directory: Path, name: str) -> list[str]:
    """Returns the command that runs the application with its nodes in the namespace `name`."""
    app = directory / f"{name}.yaml"
    app.write_text(APP.replace("NAME", name))
    runs = len(list(directory.glob("out-*")))
    out = str(directory / f"out-{name}-{runs}")
    return [*RCLRT, "run", str(app), "--executor", "preemptive", "--seconds", "1", "--out", out]


def record(out: Path, command: list[str]) -> list[str]:
    return [*RCLRT, "trace", "record", "-o", str(out), "--", *command]


def ran(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def model_of(trace: Path, into: Path) -> tuple[rclrt_model.Application, str]:
    done = rclrt("model", trace, "-o", into)
    assert done.returncode == 0, done.stderr
    return rclrt_model.load(into), done.stderr


def counts(application: rclrt_model.Application) -> dict[str, int]:
    """Returns the number of observed runs of each callback."""
    return {each.id: each.observed.n if each.observed else 0 for each in application.callbacks}


def test_sessions_of_one_folder_count_each_run_once(tmp_path: Path) -> None:
    traces = tmp_path / "tracing"
    # Two sessions that record the same run, and one of a later day.
    ran(record(traces / "outer", record(traces / "inner", run_of(tmp_path, "one"))))
    ran(record(traces / "later", run_of(tmp_path, "one")))
    whole, said = model_of(traces, tmp_path / "whole.yaml")
    first, _ = model_of(traces / "inner", tmp_path / "first.yaml")
    second, _ = model_of(traces / "later", tmp_path / "second.yaml")
    assert {node.name for node in whole.nodes} == {"imu", "drive"}
    assert len(whole.executors) == 1
    assert [len(chain.callbacks) for chain in whole.chains] == [2]
    assert counts(whole) == {name: n + counts(second)[name] for name, n in counts(first).items()}
    assert "events were recorded by several sessions: counted once" in said
    assert "lived 2 times in the trace, one life after the other" in said


def test_processes_of_one_number_in_two_namespaces_are_two(tmp_path: Path) -> None:
    alone = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not make pid namespaces")
    both = "\n".join(
        [
            *(" ".join([*alone, *run_of(tmp_path, name), "&"]) for name in ("left", "right")),
            "wait",
        ]
    )
    ran(record(tmp_path / "trace", ["sh", "-c", both]))
    application, _ = model_of(tmp_path / "trace", tmp_path / "both.yaml")
    assert len(application.executors) == 2
    assert len({executor.process for executor in application.executors}) == 2
    assert len(application.callbacks) == 4
    assert sorted(len(chain.callbacks) for chain in application.chains) == [2, 2]
