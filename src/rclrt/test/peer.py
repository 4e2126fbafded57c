# SPDX-License-Identifier: Apache-2.0
"""What the interop tests share."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

LIMIT_S = 120.0


def spin_until(node: Node, condition: Callable[[], bool]) -> bool:
    """Runs the node's callbacks until the condition holds, or for LIMIT_S."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + LIMIT_S
    while not condition() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    return condition()
