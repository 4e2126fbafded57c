# SPDX-License-Identifier: Apache-2.0
"""rclrt_ros2_control_node: a robot with two wheels, controllers from ros2_controllers, services."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

NODE, LOAD = os.environ["CONTROL_NODE"], os.environ["SERVICE_LOAD"]
BENCH = Path(__file__).parents[1] / "bench"
PARAMETERS = ["--ros-args", "--params-file", str(BENCH / "controllers.yaml")]


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
    """Policy and priority of a thread of each level, by its name (proc(5): fields 40 and 41)."""
    result = {}
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            name, rest = (task / "stat").read_text().split("(", 1)[1].rsplit(") ", 1)
            if name.startswith("executor L"):
                fields = rest.split()
                result[name] = (int(fields[38]), int(fields[37]))
    return result


@pytest.mark.parametrize("robot", [True, False], ids=["robot.yaml", "without a file"])
def test_the_controllers_drive_the_wheels_while_services_are_called(
    robot: bool, tmp_path: Path
) -> None:
    options = ["-p", f"robot:={BENCH / 'robot.yaml'}"] if robot else []
    with running(tmp_path / "log", *options) as node:
        load = subprocess.run(
            [LOAD, "3", BENCH / "robot.urdf", tmp_path / "probe"],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert load.returncode == 0, load.stderr
        threads = scheduling_of(node)
        node.send_signal(signal.SIGINT)
        assert node.wait(60) == 0
    result = json.loads(load.stdout.splitlines()[-1])
    assert result["wheel_position"] > 0
    assert result["joint_states"] > 0
    assert min(result["calls"].values()) > 0
    assert len(result["calls"]) == 4
    kinds = [line.split()[0] for line in (tmp_path / "probe").read_text().splitlines()]
    assert kinds.count("read") > 100
    assert kinds.count("write") > 100
    if is_realtime():
        fifo = {at for policy, at in threads.values() if policy == os.SCHED_FIFO}
        # The loop at thread_priority's default; under the file what brings the commands below it.
        assert fifo == ({50, 49} if robot else {50})
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
            "hardware that sets the pace needs a thread of its own; use ros2_control_node",
        ),
        ("robot:=/nowhere/robot.yaml", "/nowhere/robot.yaml"),
        ("robot:=BROKEN", "robot.yaml:2:18: kind is 'events'; expected 'preemptive'"),
        ("robot:=PICAS", "executor kind 'picas': services that wait for the loop would take"),
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
