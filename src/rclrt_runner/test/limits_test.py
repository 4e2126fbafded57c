# SPDX-License-Identifier: Apache-2.0
"""Runs under the limits of a user: a refused permission is reported, and the run goes on."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RUNNER = os.environ["RCLRT_RUNNER"]
GENEROUS_S = 120  # only a program that hangs takes as long
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
WITHOUT_CAPABILITIES = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]


def application(levels: int, executor: str = "{name: main}", period_ms: int = 100) -> str:
    """Timers, each at a priority of its own."""
    callbacks = "".join(
        f"  - {{id: c{i}, node: n, timer: {{period_ms: {period_ms}}}, wcet_ms: 0.01}}\n"
        for i in range(levels)
    )
    chains = "".join(f"  - {{id: k{i}, callbacks: [c{i}], priority: {i}}}\n" for i in range(levels))
    return (
        f"rclrt: 1\nname: limits\nexecutors: [{executor}]\nnodes: [{{name: n}}]\n"
        f"callbacks:\n{callbacks}chains:\n{chains}"
    )


def run(
    tmp_path: Path,
    text: str,
    kind: str,
    limits: list[str],
    memlock: int | None = None,
    *more: str,
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    app = tmp_path / "app.yaml"
    app.write_text(text)
    out = tmp_path / "out"

    def lower() -> None:
        if memlock is not None:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (memlock, memlock))
        resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))

    done = subprocess.run(
        [
            *limits,
            RUNNER,
            str(app),
            "--executor",
            kind,
            "--seconds",
            "0.3",
            "--out",
            str(out),
            *more,
        ],
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
        check=False,
        preexec_fn=lower,
    )
    file = out / "results.json"
    return done, json.loads(file.read_text())["context"] if file.exists() else {}


@pytest.fixture
def unprivileged() -> list[str]:
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing")
    return WITHOUT_CAPABILITIES


@pytest.mark.parametrize("memlock", [0, 64 << 10, 3 << 20])
def test_memory_that_a_limit_cannot_hold_is_not_locked_and_the_limit_is_named(
    tmp_path: Path, unprivileged: list[str], memlock: int
) -> None:
    done, context = run(tmp_path, application(3), "preemptive", unprivileged, memlock)
    assert done.returncode == 0, done.stderr
    assert context["memory_locked"] is False
    assert "memory is not locked: the limit of locked memory is" in done.stderr
    assert "memlock unlimited" in done.stderr
    assert done.stderr.count("memory is not locked") == 1


def test_a_strict_run_does_not_begin_with_memory_that_is_not_locked(
    tmp_path: Path, unprivileged: list[str]
) -> None:
    # Real time itself is permitted to root only.
    keeping = ["setpriv", "--inh-caps=-ipc_lock", "--bounding-set=-ipc_lock"]
    limits = keeping if unprivileged else []
    done, context = run(tmp_path, application(1), "preemptive", limits, 1 << 20, "--strict")
    assert done.returncode != 0
    assert "memory is not locked" in done.stderr or "SCHED_FIFO" in done.stderr
    assert context == {}


@pytest.mark.parametrize(
    ("kind", "executor"),
    [
        ("preemptive", "{name: main}"),
        ("preemptive", "{name: main, top_priority: 3}"),
        ("per_group", "{name: main}"),
        ("wait_set", "{name: main}"),
        ("edf", "{name: main, top_priority: 2}"),
        ("workshop", "{name: main, top_priority: 3}"),
    ],
)
def test_without_permission_any_number_of_priorities_is_possible(
    tmp_path: Path, unprivileged: list[str], kind: str, executor: str
) -> None:
    done, context = run(tmp_path, application(120, executor), kind, unprivileged)
    assert done.returncode == 0, done.stderr
    assert context["realtime"] is False
    reason = context["realtime_reason"]
    if "sanitizer" not in reason:
        expected = "--cap-add=SYS_NICE" if os.geteuid() == 0 else "limits.d"
        assert expected in reason


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of version 1 that permits its processes no real time."""
    path = CPU_GROUPS / f"rclrt_limits_test_{os.getpid()}"
    try:
        path.mkdir()
    except OSError:
        pytest.skip("no control group of version 1 can be made here")
    try:
        if not (path / "cpu.rt_runtime_us").exists():
            pytest.skip("this kernel budgets no real time for control groups")
        yield path
    finally:
        path.rmdir()


def test_a_control_group_without_a_budget_is_named(tmp_path: Path, group: Path) -> None:
    entering = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    done, context = run(tmp_path, application(2), "preemptive", entering)
    assert done.returncode == 0, done.stderr
    assert context["realtime"] is False
    if "sanitizer" not in context["realtime_reason"]:
        assert f"{group}/cpu.rt_runtime_us is 0" in context["realtime_reason"]


def test_what_the_kernel_takes_from_real_time_is_no_stall_of_the_machine(
    tmp_path: Path, group: Path
) -> None:
    try:
        (group / "cpu.rt_runtime_us").write_text("30000")
    except OSError:
        pytest.skip("the group above has no budget to give")
    entering = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    text = application(1, period_ms=10).replace("wcet_ms: 0.01", "wcet_ms: 5")
    done, context = run(tmp_path, text, "preemptive", entering)
    assert done.returncode == 0, done.stderr
    if not context["realtime"]:
        pytest.skip(context["realtime_reason"])
    # 30 ms of each second, used up by then: until the next second nothing runs.
    assert (
        f"30000 us of every 1000000 us, {group}/cpu.rt_runtime_us" == context["held_back"]["limit"]
    )
    assert context["held_back"]["worst_ms"] > 100
    assert context["host_stalls"]["worst_ms"] < context["held_back"]["worst_ms"]
