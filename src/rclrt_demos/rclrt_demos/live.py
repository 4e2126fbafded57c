# SPDX-License-Identifier: Apache-2.0
"""The pendulum on the terminal while its exercise runs; /joint_states has its position."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from typing import Any, Self, TextIO

from rclrt_py.errors import BadInput
from rclrt_py.processes import installation
from rclrt_py.processes.background_thread import BackgroundThread
from rclrt_py.processes.runner import run_environment

TOPIC = "/joint_states"
PERIOD_S = 1 / 20
HALF_WIDTH, HEIGHT = 24, 12
"""Characters from the middle of the picture to its edges; a character is twice as high as wide."""
SILENCE_S = 0.5
ROD, MASS, PIVOT, FLOOR = "·", "●", "┴", "─"
CLEAR, HOME, CLEAR_LINE, HIDE, SHOW = "\033[2J", "\033[H", "\033[K", "\033[?25l", "\033[?25h"


def frame(angle: float | None, label: str, silent_s: float) -> Iterator[str]:
    """The lines of one picture. `angle` is in rad from upright, None: not known yet."""
    yield label
    place = "no position yet" if angle is None else f"{math.degrees(angle):+6.1f}° from upright"
    late = f"   no news for {silent_s:.1f} s" if silent_s > SILENCE_S else ""
    yield place + late
    canvas = [[" "] * (2 * HALF_WIDTH + 1) for _ in range(HEIGHT)]
    if angle is not None:
        for step in range(1, HEIGHT + 1):
            length = step / HEIGHT
            row = HEIGHT - 1 - round(length * (HEIGHT - 1) * math.cos(angle))
            column = HALF_WIDTH + round(length * (HALF_WIDTH - 1) * math.sin(angle))
            if 0 <= row < HEIGHT and 0 <= column <= 2 * HALF_WIDTH:
                canvas[row][column] = MASS if step == HEIGHT else ROD
    yield from ("".join(row).rstrip() for row in canvas)
    yield FLOOR * HALF_WIDTH + PIVOT + FLOOR * HALF_WIDTH


class LivePicture(BackgroundThread):
    """While entered, a thread draws the pendulum 20 times a second. Needs rclpy and a terminal."""

    def __init__(self, stream: TextIO) -> None:
        """Throws BadInput without a terminal, or without rclpy."""
        super().__init__("live")
        if not stream.isatty():
            raise BadInput("--live draws on a terminal, and standard output is none; leave it out")
        self._rclpy, self._joint_state = import_ros()
        self.label = ""
        self._stream = stream

    def __enter__(self) -> Self:
        # One ROS domain for this process and for the program of the exercise.
        os.environ.update(run_environment(os.environ, os.getpid()))
        self._stream.write(CLEAR + HIDE)
        return super().__enter__()

    def _after_end(self) -> None:
        self._stream.write(SHOW)
        self._stream.flush()

    def _run(self) -> None:
        rclpy = self._rclpy
        angle: float | None = None
        heard = time.monotonic()

        def on_state(state: Any) -> None:
            nonlocal angle, heard
            if not state.position or not math.isfinite(state.position[0]):
                return  # another program's
            angle, heard = float(state.position[0]), time.monotonic()

        context = rclpy.Context()
        rclpy.init(
            args=[], context=context, signal_handler_options=rclpy.signals.SignalHandlerOptions.NO
        )
        node = rclpy.create_node("rclrt_live", context=context, enable_rosout=False)
        node.create_subscription(self._joint_state, TOPIC, on_state, 10)
        executor = rclpy.executors.SingleThreadedExecutor(context=context)
        executor.add_node(node)
        due = time.monotonic()
        while not self._ended.is_set():
            executor.spin_once(timeout_sec=max(0.0, due - time.monotonic()))
            now = time.monotonic()
            if now >= due:
                lines = frame(angle, self.label, now - heard)
                drawn = "".join(f"{line}{CLEAR_LINE}\n" for line in lines)
                self._stream.write(HOME + drawn)
                self._stream.flush()
                due = max(due + PERIOD_S, now)
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def import_ros() -> tuple[Any, Any]:
    """rclpy and the message. Throws BadInput where they are not installed."""
    try:
        import rclpy
        import rclpy.executors
        import rclpy.signals
        from sensor_msgs.msg import JointState
    except ImportError as error:
        raise BadInput(
            f"--live needs rclpy and sensor_msgs ({error})\n  fix: install ros-jazzy-rclpy and "
            f"ros-jazzy-sensor-msgs; {installation.ros_fix()}"
        ) from error
    return rclpy, JointState
