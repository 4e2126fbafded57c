# SPDX-License-Identifier: Apache-2.0
"""The launch file of examples/container, run as `ros2 launch` does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("launch_ros", reason="launch_ros is not installed")
ament = pytest.importorskip("ament_index_python", reason="ament_index_python is not installed")
if not ament.has_resource("rclcpp_components", "demo_nodes_cpp"):
    pytest.skip("demo_nodes_cpp is not installed", allow_module_level=True)

EXAMPLE = Path(__file__).parents[3] / "examples/container/robot.launch.py"
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService()
source = PythonLaunchDescriptionSource(sys.argv[1])
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(source)]))
sys.exit(service.run())
"""
PATIENCE_S = 120.0


def becomes_true(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def threads_of(pid: int) -> list[tuple[str, int, int]]:
    """Name, policy and priority of each thread."""
    result = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            name, tid = (task / "comm").read_text().strip(), int(task.name)
            priority = os.sched_getparam(tid).sched_priority
            result.append((name, os.sched_getscheduler(tid), priority))
    return result


def child_of(pid: int) -> int:
    """The only child: the container."""
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


def is_planned(threads: list[tuple[str, int, int]]) -> bool:
    """Whether all have what robot.yaml states: the middleware's, the levels', all others."""
    for name, policy, priority in threads:
        if name.startswith("dds."):
            as_planned = (policy, priority) == (os.SCHED_FIFO, 81)
        elif name.startswith("executor L"):
            as_planned = policy == os.SCHED_FIFO and priority <= 80
        else:
            as_planned = policy == os.SCHED_OTHER
        if not as_planned:
            return False
    return True


def test_its_nodes_talk_and_its_threads_have_what_the_file_states(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(EXAMPLE)],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as launched,
    ):
        try:
            for listener in ("listener", "urgent_listener"):
                heard = f"[{listener}]: I heard: [Hello World: "
                assert becomes_true(lambda text=heard: text in log.read_text()), log.read_text()
            container = child_of(launched.pid)
            if subprocess.run(["chrt", "-f", "94", "true"], check=False).returncode == 0:
                planned = becomes_true(lambda: is_planned(threads_of(container)))
                assert planned, threads_of(container)
                policies = {policy for _, policy, _ in threads_of(container)}
                assert policies == {os.SCHED_FIFO, os.SCHED_OTHER}
            launched.send_signal(signal.SIGINT)
            assert launched.wait(PATIENCE_S) == 0, log.read_text()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(launched.pid, signal.SIGKILL)
    said = log.read_text()
    assert "process has finished cleanly" in said
    assert "nothing fits" not in said
