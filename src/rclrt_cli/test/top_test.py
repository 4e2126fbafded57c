# SPDX-License-Identifier: Apache-2.0
"""`rclrt top`: the table, and a robot that publishes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rclrt_cli.live_table import LiveTable
from rclrt_cli.main import main
from rclrt_py.live.statuses import ERROR, OK, WARN, Status
from rclrt_py.terminal.table import Paint

LINE = "/lidar timer 0"


def status(
    name: str = LINE, *, level: int = OK, at: float = 0.0, message: str = "", **values: object
) -> Status:
    stated = {"priority": 5, "deadline_ms": "10.000", "released": 100, "dropped": 0, "missed": 0}
    texts = {key: str(value) for key, value in (stated | values).items()}
    return Status("rclrt: " + name, level, message, texts, at)


def lines(table: LiveTable, now_s: float = 0.0) -> list[str]:
    return list(table.lines(now_s, Paint(False)))


def test_a_line_tells_counters_misses_since_the_last_message_and_who_was_in_the_way() -> None:
    table = LiveTable()
    table.take(status(missed=1, level=WARN, worst_late_ms="3.210", most_in_the_way="/plan timer 0"))
    table.take(status(missed=4, dropped=2, released=200, p99_ms="7.5"))
    assert lines(table)[1].split() == [
        *("/lidar", "timer", "0", "5", "10", "7.500", "200", "2", "4", "3", "3.210"),
        *("/plan", "timer", "0"),
    ]
    assert table.missed


def test_the_most_serious_come_first_then_the_most_urgent() -> None:
    table = LiveTable()
    table.take(status("/calm", priority=9))
    table.take(status("/late", level=WARN, missed=1))
    table.take(status("/stuck", level=ERROR, message="nothing has ended for 1000 ms"))
    table.take(status("/urgent", priority=10))
    found = lines(table)
    assert [line.split()[0] for line in found[1:]] == [
        *("/stuck", "nothing", "/late", "/urgent", "/calm")
    ]
    assert found[2] == "  nothing has ended for 1000 ms"


def test_a_robot_without_deadlines_has_a_line_that_says_why_the_table_is_empty() -> None:
    table = LiveTable()
    assert lines(table)[1:] == [
        "  none yet: a callback is listed if it states deadline_ms or max_age_ms"
    ]
    table.take(status())
    assert len(lines(table)) == 2


def test_a_robot_that_says_nothing_any_more_is_silent() -> None:
    table = LiveTable()
    table.take(status(at=0.0))
    assert "(silent)" not in lines(table, 2.0)[1]
    assert lines(table, 4.0)[1].endswith("(silent)")
    values = {"period_ms": "10000", "cpu_percent": "12.34"}
    table.take(Status("rclrt: process arm 7", OK, "real time", values, 0.0))
    assert lines(table, 2.0)[-1] == "process arm 7: real time, 12.3 % of a CPU"
    assert "(silent)" not in lines(table, 24.0)[1]
    assert lines(table, 26.0)[1].endswith("(silent)")


def test_a_callback_without_progress_has_a_line_that_stands_out() -> None:
    table = LiveTable()
    values = {"priority": "1", "waits_ms": "300.000", "releases": "30"}
    said = "no instance has ended for 300.000 ms, in which it was due 30 times"
    for level in (WARN, OK):
        table.take(Status("rclrt: /map timer 1 progress", level, said, values, 0.0))
        assert lines(table)[-1] == f"/map timer 1 progress: {said}"
        painted = list(table.lines(0.0, Paint(True)))[-1]
        assert (painted == Paint(True).red(lines(table)[-1])) == (level == WARN)
    assert not table.missed


def test_other_publishers_of_diagnostics_are_passed_over() -> None:
    table = LiveTable()
    table.take(Status("battery", ERROR, "low", {"deadline_ms": "1"}, 0.0))
    assert not table.callbacks
    assert not table.missed


def test_what_comes_cannot_write_to_the_terminal_and_does_not_grow_without_end() -> None:
    table = LiveTable(most=3)
    for number in range(10):
        table.take(
            status(
                f"\x1b[2J{number}" + "x" * 500,
                missed="9" * 400,
                deadline_ms="nan",
                worst_late_ms="inf",
                level=ERROR,
                message="\x1b]0;title\x07",
            )
        )
    assert len(table.callbacks) == 3
    assert all(len(name) <= 300 for name, _ in table.callbacks)
    for line in lines(table):
        assert line.isprintable()
        assert len(line) <= 160


def test_the_one_silent_longest_makes_room() -> None:
    table = LiveTable(most=2)
    for at, name in enumerate(("/a", "/b", "/a", "/c")):
        table.take(status(name, at=float(at)))
    assert sorted(name for name, _ in table.callbacks) == ["/a", "/c"]


def test_a_topic_that_is_none_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rclpy")
    assert main(["top", "--topic", "no topic"]) == 2
    assert "--topic 'no topic' is no topic name" in capfd.readouterr().err


PUBLISHER = """
import sys
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
rclpy.init()
node = rclpy.create_node("robot")
publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
values = {"priority": 7, "deadline_ms": "5.000", "released": 50, "dropped": 0, "missed": 2,
          "worst_late_ms": "1.500", "most_in_the_way": "/planner timer 0"}
status = DiagnosticStatus(name="rclrt: /control timer 0", level=DiagnosticStatus.WARN,
                          values=[KeyValue(key=key, value=str(each))
                                  for key, each in values.items()])
node.create_timer(0.05, lambda: publisher.publish(DiagnosticArray(status=[status])))
rclpy.spin(node)
"""


def test_a_running_robot_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    environment = os.environ | {
        "ROS_DOMAIN_ID": str(int(os.environ.get("ROS_DOMAIN_ID", "1")) + worker),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(tmp_path),
    }
    with subprocess.Popen([sys.executable, "-c", PUBLISHER], env=environment) as robot:
        try:
            answer = subprocess.run(
                [sys.executable, "-m", "rclrt_cli", "top", "--once", "--seconds", "60"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            robot.terminate()
    assert answer.returncode == 1, answer.stderr
    assert answer.stdout.splitlines()[1].split() == [
        *("/control", "timer", "0", "7", "5", "-", "50", "0", "2", "1.500"),
        *("/planner", "timer", "0"),
    ]
