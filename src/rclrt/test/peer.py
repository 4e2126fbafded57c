# SPDX-License-Identifier: Apache-2.0
"""Helpers that the interop tests share."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

LIMIT_S = 120.0
PATIENCE_S = 2.0  # between attempts to reach the other side


def spin_until(node: Node, condition: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
    """Runs the node's callbacks until the condition holds, or for `limit_s`."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + limit_s
    while not condition() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    return condition()


def meet(node: Node, attempt: Callable[[], Callable[[], bool]]) -> None:
    """Attempts something, and again each PATIENCE_S, until the condition it returns holds.

    One side discovers the other's endpoints before it is discovered itself. A middleware loses
    data that is sent meanwhile: messages, and responses that wait for their reader for more than
    100 ms. After this, both have discovered each other, and nothing may be lost.
    """
    end = time.monotonic() + LIMIT_S
    while not spin_until(node, attempt(), PATIENCE_S):
        assert time.monotonic() < end, "the other side does not answer"


def meet_service(node: Node, call: Callable[[], Future]) -> None:
    """Calls until a call is answered."""
    meet(node, lambda: call().done)
