# SPDX-License-Identifier: Apache-2.0
"""rclrt_ros2_control_node: a robot with two wheels, controllers from ros2_controllers, services."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

NODE, LOAD = os.environ["CONTROL_NODE"], os.environ["SERVICE_LOAD"]
BENCH = Path(__file__).parents[1] / "bench"
PARAMETERS = ["--ros-args", "--params-file", str(BENCH / "controllers.yaml")]
PATIENCE_S = 120.0


@contextmanager
def running(log: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    with (
        log.open("wb") as output,
        subprocess.Popen([NODE, *PARAMETERS, *options], stderr=output) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def is_realtime() -> bool:
    return subprocess.run(["chrt", "-f", "51", "true"], check=False).returncode == 0


def scheduling_of(process: subprocess.Popen[bytes]) -> dict[str, tuple[int, int]]:
    """Policy and priority of one thread per level, by its name."""
    result = {}
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            name, tid = (task / "comm").read_text().strip(), int(task.name)
            if name.startswith("executor L"):
                priority = os.sched_getparam(tid).sched_priority
                result[name] = (os.sched_getscheduler(tid), priority)
    return result


def fifo_of(threads: dict[str, tuple[int, int]]) -> set[int]:
    return {at for policy, at in threads.values() if policy == os.SCHED_FIFO}


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, (scheduling_of(process), log.read_text())
        time.sleep(0.05)


def run_load(seconds: int, probe: Path) -> dict[str, Any]:
    """The results of calling the services for a time."""
    load = subprocess.run(
        [LOAD, str(seconds), BENCH / "robot.urdf", probe],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert load.returncode == 0, load.stderr
    result: dict[str, Any] = json.loads(load.stdout.splitlines()[-1])
    return result


@pytest.mark.parametrize("robot", [True, False], ids=["robot.yaml", "without a file"])
def test_the_controllers_drive_the_wheels_while_services_are_called(
    robot: bool, tmp_path: Path
) -> None:
    options = ["-p", f"robot:={BENCH / 'robot.yaml'}"] if robot else []
    with running(tmp_path / "log", *options) as node:
        result = run_load(3, tmp_path / "probe")
        threads = scheduling_of(node)
        node.send_signal(signal.SIGINT)
        assert node.wait(60) == 0
    assert result["wheel_position"] > 0
    assert result["joint_states"] > 0
    assert min(result["calls"].values()) > 0
    assert len(result["calls"]) == 4
    kinds = [line.split()[0] for line in (tmp_path / "probe").read_text().splitlines()]
    assert kinds.count("read") > 100
    assert kinds.count("write") > 100
    if is_realtime():
        # The loop has the default of thread_priority; with the file, the source of its commands is
        # below.
        assert fifo_of(threads) == ({50, 49} if robot else {50})
        assert any(policy == os.SCHED_OTHER for policy, _ in threads.values())


def test_ctrl_c_halts_the_wheels_while_services_are_called(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    with (
        running(tmp_path / "log") as node,
        subprocess.Popen(
            [LOAD, "drive", BENCH / "robot.urdf", probe], stdout=subprocess.PIPE, text=True
        ) as load,
    ):
        assert load.stdout is not None
        try:
            assert [load.stdout.readline() for _ in range(2)] == ["begin\n", "driving\n"]
            node.send_signal(signal.SIGINT)
            assert node.wait(60) == 0
        finally:
            load.kill()
    lines = probe.read_text().splitlines()
    written = [float(line.split()[2]) for line in lines if line.startswith("write ")]
    assert any(velocity > 0 for velocity in written)  # the first ones are NaN
    assert written[-1] == 0


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("thread_priority:=99", "parameter thread_priority: 99; expected 1 to 94"),
        (
            "hardware_synchronization.expect_blocking_read_write:=true",
            "hardware that blocks needs a thread of its own; use ros2_control_node",
        ),
        ("robot:=/nowhere/robot.yaml", "/nowhere/robot.yaml"),
        ("robot:=BROKEN", "robot.yaml:2:18: kind is 'events'; expected 'preemptive'"),
        ("robot:=PICAS", "executor kind 'picas': this kind has no thread that stays free"),
    ],
)
def test_a_mistake_ends_it_with_its_place(option: str, expected: str, tmp_path: Path) -> None:
    for kind in ("events", "picas"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "robot.yaml").write_text(f"rclrt: 1\nexecutor: {{kind: {kind}}}\n")
    option = option.replace("BROKEN", str(tmp_path / "events/robot.yaml"))
    option = option.replace("PICAS", str(tmp_path / "picas/robot.yaml"))
    log = tmp_path / "log"
    with running(log, "-p", option) as node:
        assert node.wait(60) == 2
    said = log.read_text()
    assert expected in said
    assert "rclrt_ros2_control_node: " in said


def robot_file(folder: Path, executor: str) -> str:
    file = folder / "robot.yaml"
    file.write_text(f"rclrt: 1\nexecutor: {{{executor}}}\nmonitor: {{period_ms: 100}}\n")
    return f"robot:={file}"


@pytest.mark.parametrize(
    "kind", ["preemptive", "producer_consumer", "thread_dispatch", "per_group"]
)
def test_kinds_with_a_thread_for_the_loop_run_it(kind: str, tmp_path: Path) -> None:
    probe, robot = tmp_path / "probe", robot_file(tmp_path, f"kind: {kind}")
    with running(tmp_path / "log", "-p", robot) as node:
        result = run_load(1, probe)
        node.send_signal(signal.SIGINT)
        assert node.wait(60) == 0
    assert result["wheel_position"] > 0
    assert min(result["calls"].values()) > 0


@pytest.mark.skipif(not is_realtime(), reason="needs permission for SCHED_FIFO")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-p", "thread_priority:=30"], 30),
        (["-p", "robot:=ROBOT"], 70),
        (["-p", "robot:=ROBOT", "-p", "thread_priority:=30"], 30),
    ],
    ids=["parameter", "file", "both"],
)
def test_thread_priority_goes_before_the_files(
    options: list[str], expected: int, tmp_path: Path
) -> None:
    robot = robot_file(tmp_path, "top_priority: 71")
    log = tmp_path / "log"
    with running(log, *[option.replace("robot:=ROBOT", robot) for option in options]) as node:
        # The threads of its levels start one after the other.
        wait_until(lambda: max(fifo_of(scheduling_of(node)), default=0) == expected, node, log)


def test_what_has_no_effect_says_so(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running(log, "-p", "cpu_affinity:=[0]", "-p", "overruns.manage:=false") as node:
        wait_until(lambda: bool(scheduling_of(node)), node, log)  # it spins
    said = log.read_text()
    assert "cpu_affinity has no effect here; fix: executor: {cpus: [...]} in robot.yaml" in said
    assert "overruns.manage: false has no effect" in said


def late_ms(status: DiagnosticStatus) -> float:
    """The worst lateness, from a status that names the culprit."""
    values = {each.key: each.value for each in status.values}
    return float(values.get("worst_late_ms", 0)) if "most_in_the_way" in values else 0.0


class Diagnostics:
    """The loop's statuses on /diagnostics."""

    def __init__(self) -> None:
        self._node = rclpy.create_node("operator")
        self._statuses: list[DiagnosticStatus] = []
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._take, 100)

    def comes(self, fits: Callable[[DiagnosticStatus], bool]) -> bool:
        """Waits for a status that matches; returns whether one came. Forgets earlier ones."""
        self._statuses.clear()
        until = time.monotonic() + PATIENCE_S
        while not any(map(fits, self._statuses)):
            if time.monotonic() > until:
                return False
            rclpy.spin_once(self._node, timeout_sec=0.1)
        return True

    def _take(self, message: DiagnosticArray) -> None:
        loop = "rclrt: /controller_manager group"  # the only callback with a deadline
        self._statuses += [each for each in message.status if each.name.startswith(loop)]


@contextmanager
def diagnostics() -> Iterator[Diagnostics]:
    rclpy.init()
    try:
        yield Diagnostics()
    finally:
        rclpy.shutdown()


def test_a_miss_of_the_loop_is_told_on_diagnostics(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with diagnostics() as heard, running(log, "-p", robot_file(tmp_path, "")) as node:
        assert heard.comes(lambda _: True), log.read_text()
        node.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, node.pid, os.WSTOPPED)
        time.sleep(1.5)
        node.send_signal(signal.SIGCONT)
        # Earlier delays by the machine are hardly that long.
        assert heard.comes(lambda status: late_ms(status) >= 1490), log.read_text()
