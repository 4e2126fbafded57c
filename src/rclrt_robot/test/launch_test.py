# SPDX-License-Identifier: Apache-2.0
"""The launch file of examples/container, run as `ros2 launch` does without a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("launch_ros")
ament = pytest.importorskip("ament_index_python")
if not ament.has_resource("rclcpp_components", "demo_nodes_cpp"):
    pytest.skip("demo_nodes_cpp is not installed", allow_module_level=True)

EXAMPLE = Path(__file__).parents[3] / "examples/container/robot.launch.py"
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService(noninteractive=True)
patience = [SetLaunchConfiguration(name, "120") for name in ("sigterm_timeout", "sigkill_timeout")]
source = PythonLaunchDescriptionSource(sys.argv[1])
service.include_launch_description(
    LaunchDescription([*patience, IncludeLaunchDescription(source)])
)
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


def is_in(log: Path, text: str) -> bool:
    return text in log.read_text()


def is_realtime() -> bool:
    return subprocess.run(["chrt", "-f", "94", "true"], check=False).returncode == 0


def threads_of(pid: int) -> list[tuple[str, int, int]]:
    """Name, policy and priority of each thread."""
    result = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            name, tid = (task / "comm").read_text().strip(), int(task.name)
            priority = os.sched_getparam(tid).sched_priority
            result.append((name, os.sched_getscheduler(tid), priority))
    return result


def children_of(pid: int) -> list[int]:
    result = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            parent = (process / "stat").read_text().rsplit(") ", 1)[1].split()[1]
            if int(parent) == pid:
                result.append(int(process.name))
    return result


def is_of_middleware(name: str) -> bool:
    """Whether a thread belongs to Fast DDS or to Cyclone DDS."""
    return name.startswith(("dds.", "dq.", "recv")) or name in {"gc", "tev"}


def as_planned(name: str, policy: int, priority: int) -> bool:
    """Whether a thread has its scheduling of robot.yaml: the middleware's, a level's, others."""
    if is_of_middleware(name):
        return (policy, priority) == (os.SCHED_FIFO, 81)
    if name.startswith("executor L"):
        return policy == os.SCHED_FIFO and 0 < priority < 80
    return policy == os.SCHED_OTHER


def are_planned(pid: int) -> bool:
    threads = threads_of(pid)
    names = {name[:10] for name, _, _ in threads}
    return "executor L" in names and all(as_planned(*each) for each in threads)


@dataclass(frozen=True)
class Launched:
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text()

    def listen(self) -> None:
        """Waits until both listeners have received a message."""
        for listener in ("listener", "urgent_listener"):
            text = f"[{listener}]: I heard: [Hello World: "
            assert becomes_true(partial(is_in, self.log, text)), self.said()


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[Launched]:
    log = tmp_path / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(EXAMPLE)],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield Launched(process, log)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_its_nodes_talk_until_ctrl_c(launched: Launched) -> None:
    launched.listen()
    launched.process.send_signal(signal.SIGINT)
    assert launched.process.wait(PATIENCE_S) == 0, launched.said()
    assert "process has finished cleanly" in launched.said()
    assert "nothing fits" not in launched.said()


@pytest.mark.skipif(not is_realtime(), reason="needs permission for SCHED_FIFO")
def test_its_threads_have_what_the_file_states(launched: Launched) -> None:
    launched.listen()
    (container,) = children_of(launched.process.pid)
    assert becomes_true(lambda: are_planned(container)), threads_of(container)
    assert any(is_of_middleware(name) for name, _, _ in threads_of(container))
