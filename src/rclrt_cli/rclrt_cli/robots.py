# SPDX-License-Identifier: Apache-2.0
"""Receives the diagnostics of running robots. rclpy is imported only here, when it is needed."""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from rclrt_py.errors import BadInput
from rclrt_py.live.statuses import PREFIX, Status, Statuses
from rclrt_py.plan.live import observed
from rclrt_py.processes.background_thread import BackgroundThread
from rclrt_py.processes.installation import is_wheel, ros_fix

TOPIC = "/diagnostics"
SPIN_S = 0.1


def import_rclpy(command: str) -> tuple[Any, Any]:
    """Imports rclpy and the message type. They may not be installed; then throws BadInput."""
    try:
        importlib.import_module("rclpy.signals")
        message = importlib.import_module("diagnostic_msgs.msg").DiagnosticArray
        return importlib.import_module("rclpy"), message
    except ImportError as error:
        source = "source a ROS 2 installation, or run ./rclrt after `make setup`"
        fix = ros_fix() if is_wheel() else source
        raise BadInput(
            f"`{command}` needs rclpy and diagnostic_msgs: {error}\n  fix: {fix}"
        ) from error


def start_rclpy(rclpy: Any) -> None:
    """Starts rclpy without its signal handlers. Throws RuntimeError if ROS 2 cannot start."""
    rclpy.init(args=[], signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)


def listen(
    rclpy: Any, message_type: Any, name: str, topic: str, take: Callable[[Status], None]
) -> Any:
    """Returns a node that calls `take` with each status on a topic while it is spun. Throws
    BadInput if the topic is no name."""
    invalid_name = importlib.import_module("rclpy.exceptions").InvalidTopicNameException

    def take_all(message: Any) -> None:
        now_s = time.monotonic()
        process = next(
            (
                str(each.name).removeprefix(PREFIX)
                for each in message.status
                if str(each.name).startswith(f"{PREFIX}process ")
            ),
            "",
        )
        for status in message.status:
            values = {str(each.key): str(each.value) for each in status.values}
            level = int.from_bytes(status.level, "little")
            take(Status(status.name, level, status.message, values, now_s, process))

    node = rclpy.create_node(f"{name}_{os.getpid()}", enable_rosout=False)
    try:
        node.create_subscription(message_type, topic, take_all, 100)
    except invalid_name as error:
        node.destroy_node()
        raise BadInput(
            f"--topic '{topic}' is no topic name; expected one like /diagnostics"
        ) from error
    return node


def hint() -> str:
    """Returns when a robot is seen."""
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    is_local = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") == "LOCALHOST"
    return (
        "a robot is seen if its robot.yaml has a section 'monitor' and it is in this ROS domain "
        f"(ROS_DOMAIN_ID={domain})"
        + "; one on another computer only with ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET"
        * is_local
    )


class Robots(BackgroundThread):
    """Listens to robots in a thread of its own, inside of a `with` block."""

    def __init__(self, command: str, topic: str) -> None:
        super().__init__()
        self._rclpy, self._message_type = import_rclpy(command)
        self._topic = topic
        self._statuses = Statuses()
        self._lock = threading.Lock()
        self._error = ""

    def __enter__(self) -> Self:
        try:
            start_rclpy(self._rclpy)
            self._node = listen(
                self._rclpy, self._message_type, "rclrt_plan", self._topic, self._take
            )
        except BaseException as error:
            self._rclpy.try_shutdown()
            if isinstance(error, RuntimeError):  # rclpy's RCLError is one, and has no public name
                raise BadInput(f"ROS 2 cannot start here: {error}") from error
            raise
        return super().__enter__()

    def _after_end(self) -> None:
        self._node.destroy_node()
        self._rclpy.try_shutdown()

    def observed(self, callbacks: Mapping[str, str]) -> dict[str, Any]:
        """Returns what is measured now, for the page of `rclrt plan`. `callbacks`: the ids of the
        application's callbacks by their names in the ROS graph."""
        with self._lock:
            found = observed(self._statuses, callbacks, time.monotonic())
        return {**found, "topic": self._topic, "hint": hint(), "error": self._error}

    def _take(self, status: Status) -> None:
        with self._lock:
            self._statuses.take(status)

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                self._rclpy.spin_once(self._node, timeout_sec=SPIN_S)
        except Exception as error:  # the page shows it
            self._error = f"no message is received any more: {error}"
