# SPDX-License-Identifier: Apache-2.0
"""`rclrt top`: shows the deadlines of running robots, from the diagnostics that they publish."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

from rclrt_py.arguments import seconds_argument
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.table import Paint

from rclrt_cli.live_table import LiveTable
from rclrt_cli.robots import SPIN_S, TOPIC, hint, import_rclpy, listen, start_rclpy

HELP = "show deadline misses and their causes, live, for running robots"
DESCRIPTION = (
    "Shows each callback that has a deadline, for all processes with a section 'monitor' in their "
    "robot.yaml. Press Ctrl-C to end. The exit code is 1 if a deadline was missed, otherwise 0."
)
_HINT_AFTER_S = 5.0
_CLEAR = "\x1b[H\x1b[2J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--topic",
        default=TOPIC,
        help="topic on which the robots publish (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds",
        type=seconds_argument,
        metavar="S",
        help="end after this number of seconds (default: at Ctrl-C)",
    )
    parser.add_argument(
        "--once", action="store_true", help="print one table after the first message, and end"
    )


def run(arguments: argparse.Namespace) -> int:
    rclpy, message_type = import_rclpy("rclrt top")
    table = LiveTable()
    with StopSignals() as stop:
        try:
            start_rclpy(rclpy)
            node = listen(rclpy, message_type, "rclrt_top", arguments.topic, table.take)
            _show(rclpy, node, table, arguments, stop)
            node.destroy_node()
        except RuntimeError as error:  # rclpy's RCLError is one, and has no public name
            raise BadInput(f"ROS 2 cannot start here: {error}") from error
        finally:
            rclpy.try_shutdown()
    if not table.callbacks and not table.processes:
        print(f"rclrt: nothing came on {arguments.topic}; {hint()}", file=sys.stderr)
        return EXIT_NO
    return EXIT_NO if table.missed else EXIT_OK


def _show(
    rclpy: Any, node: Any, table: LiveTable, arguments: argparse.Namespace, stop: StopSignals
) -> None:
    paint = Paint.of(sys.stdout, os.environ)
    begin_s = next_s = time.monotonic()
    hinted = False
    while not stop.requested:
        rclpy.spin_once(node, timeout_sec=SPIN_S)
        now_s = time.monotonic()
        is_over = arguments.seconds is not None and now_s - begin_s >= arguments.seconds
        has_come = bool(table.callbacks or table.processes)
        if has_come and (arguments.once or is_over or now_s >= next_s):
            lines = list(table.lines(now_s, paint))
            print((_CLEAR if sys.stdout.isatty() and not arguments.once else "") + "\n".join(lines))
            sys.stdout.flush()
            next_s = now_s + 1.0
        if is_over or (arguments.once and has_come):
            return
        if not has_come and not hinted and now_s - begin_s > _HINT_AFTER_S:
            print(f"rclrt: nothing yet on {arguments.topic}; {hint()}", file=sys.stderr)
            hinted = True
