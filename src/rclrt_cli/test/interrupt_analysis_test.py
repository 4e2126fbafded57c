# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during long computations: the command ends, reports it, and has written nothing but a
result that is complete."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from rclrt_py.native import load_application
from rclrt_py.testing.command import command, environment
from rclrt_py.testing.waiting import GENEROUS_S, wait_for

BUSY_S = 2.0
"""CPU time after which the command has started up and does its work."""


def application(chains: int) -> str:
    """Chains of four callbacks, 80 % of a core in all. Their analysis takes hours."""
    callbacks = []
    for chain in range(chains):
        period = 10 + chain % 37
        wcet = period * 0.8 / (4 * chains)
        for step in range(4):
            trigger = (
                {"timer": {"period_ms": period}}
                if step == 0
                else {"subscription": {"topic": f"t{chain}_{step - 1}"}}
            )
            callbacks.append(
                {
                    "id": f"c{chain}_{step}",
                    "node": f"n{chain}",
                    **trigger,
                    "wcet_ms": round(wcet, 6),
                    "publishes": [f"t{chain}_{step}"],
                }
            )
    return json.dumps(
        {
            "rclrt": 1,
            "name": "large",
            "executors": [{"name": "main", "cpus": [0]}],
            "nodes": [{"name": f"n{chain}"} for chain in range(chains)],
            "callbacks": callbacks,
            "chains": [
                {
                    "id": f"chain{chain}",
                    "callbacks": [f"c{chain}_{step}" for step in range(4)],
                    "priority": chain,
                    "deadline_ms": 100,
                }
                for chain in range(chains)
            ],
        }
    )


def task_set(tasks: int) -> str:
    return json.dumps(
        {
            "rclrt": 1,
            "tasks": [
                {"id": f"t{i}", "c": 0.5 * (10 + i) / tasks, "t": 10 + i} for i in range(tasks)
            ],
        }
    )


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time of the process and of its direct children that have not ended."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(path.parent.name) == pid or int(fields[1]) == pid:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def interrupted(text: str, arguments: tuple[str, ...], directory: Path) -> tuple[int, str, str]:
    """Sends SIGINT to the command when it does its work. Returns its exit code, its output and its
    errors."""
    (directory / "file.json").write_text(text)
    places = {"FILE": str(directory / "file.json"), "OUT": str(directory / "out")}
    child = subprocess.Popen(
        command(*(places.get(word, word) for word in arguments)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: cpu_seconds(child.pid) > BUSY_S or child.poll() is not None)
    assert child.poll() is None, child.communicate()
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=GENEROUS_S)
    return child.returncode, out, errors


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (application(200), ("analyze", "FILE", "--sensitivity", "--counter-example", "OUT")),
        (task_set(2000), ("analyze", "FILE", "--sensitivity", "--counter-example", "OUT")),
        (
            application(200),
            ("simulate", "FILE", "--executor", "edf", "--seconds", "86400", "--out", "OUT"),
        ),
    ],
    ids=["sensitivity", "sensitivity of tasks", "simulate"],
)
def test_ctrl_c_ends_a_long_computation_and_nothing_is_written(
    text: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    code, out, errors = interrupted(text, arguments, tmp_path)
    assert code == 130
    assert out == ""
    assert "rclrt: stopped" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.json"]


def test_ctrl_c_ends_a_search_for_an_assignment_with_the_best_so_far(tmp_path: Path) -> None:
    arguments = ("assign", "FILE", "--cores", "4", "--evaluations", "9999999", "-o", "OUT")
    code, out, errors = interrupted(application(20), arguments, tmp_path)
    assert code == 130
    assert "Optimised: the fewest chains without a proof" in out
    assert "rclrt: stopped; this is the best assignment so far" in errors
    assert load_application(tmp_path / "out").name == "large"
