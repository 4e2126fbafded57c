# SPDX-License-Identifier: Apache-2.0
"""The pendulum's topics and services, as rclpy sees them."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty

from rclrt_msgs.srv import SetDesiredPosition, SetPidConstants

PROGRAM = Path(os.environ["RCLRT_DEMOS_PROGRAMS"]) / "exercise_2_2"
LIMIT_S = 120


def stamp_ns(message: JointState) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


@dataclass
class Peer:
    """A node that listens to the pendulum and calls its services."""

    node: Node
    executor: SingleThreadedExecutor
    full: list[JointState] = field(default_factory=list)
    decimated: list[JointState] = field(default_factory=list)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end, "it has not come about"
            self.executor.spin_once(timeout_sec=1)

    def wait_for_position(self, condition: Callable[[float], bool]) -> None:
        """Waits until a sample from now on meets the condition."""
        self.full.clear()
        self.wait_for(lambda: any(condition(message.position[0]) for message in self.full))

    def call(self, service: Any, name: str, **request: float) -> Any:
        client = self.node.create_client(service, name)
        assert client.wait_for_service(timeout_sec=LIMIT_S)
        future = client.call_async(service.Request(**request))
        self.wait_for(future.done)
        return future.result()


@pytest.fixture
def pendulum() -> Iterator[None]:
    command = [str(PROGRAM), "--solution", "--seconds", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=LIMIT_S) == 0
        finally:
            process.kill()


@pytest.fixture
def peer(pendulum: None) -> Iterator[Peer]:
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("rclpy_peer", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    made = Peer(node, executor)
    node.create_subscription(JointState, "/joint_states_full", made.full.append, 1000)
    node.create_subscription(JointState, "/joint_states", made.decimated.append, 100)
    yield made
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_every_sample_is_on_one_topic_and_one_in_10_ms_on_the_other(peer: Peer) -> None:
    peer.wait_for(lambda: len(peer.full) >= 100 and len(peer.decimated) >= 10)
    for message in peer.full + peer.decimated:
        assert list(message.name) == ["joint_1"]
        assert len(message.position) == 1
    full = [stamp_ns(message) for message in peer.full]
    decimated = [stamp_ns(message) for message in peer.decimated]
    assert full == sorted(full)
    assert len(peer.decimated) < len(peer.full)
    pairs = itertools.pairwise(decimated)
    assert all(later - earlier >= 10_000_000 for earlier, later in pairs)


def test_the_pendulum_goes_where_it_is_told_starts_anew_and_falls(peer: Peer) -> None:
    peer.wait_for_position(lambda position: abs(position) < 0.05)
    told = peer.call(SetDesiredPosition, "/set_desired_position", desired_position=-0.5)
    assert (told.success, told.message) == (True, "")
    peer.wait_for_position(lambda position: abs(position + 0.5) < 0.05)

    peer.call(Empty, "/reset_pendulum")
    peer.wait_for_position(lambda position: position > 0.3)

    told = peer.call(SetPidConstants, "/set_PID_constants", kp=0.0, ki=0.0, kd=0.0)
    assert (told.success, told.message) == (True, "")
    peer.wait_for_position(lambda position: abs(position) > 1.57)


def test_a_request_that_cannot_be_met_says_what_was_expected(peer: Peer) -> None:
    for position in (1.6, -1.6, float("nan")):
        told = peer.call(SetDesiredPosition, "/set_desired_position", desired_position=position)
        assert not told.success
        assert "expected radians between -pi/2 and pi/2" in told.message
    told = peer.call(SetPidConstants, "/set_PID_constants", kp=1.0, ki=float("inf"), kd=0.0)
    assert not told.success
    assert "expected finite ones" in told.message
    peer.wait_for_position(lambda position: abs(position) < 0.05)
