# SPDX-License-Identifier: Apache-2.0
"""rclrt and rclpy, the reference client, talk to each other across processes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from builtin_interfaces.msg import Time
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Image, Imu, LaserScan
from std_msgs.msg import Header, String

DOMAIN = 1 + os.getpid() % 101
LIMIT_S = 30.0

HEADER = Header(stamp=Time(sec=12, nanosec=345), frame_id="base_link")
MESSAGES = {
    "string": String(data="grüße, 世界 " + "x" * 5000),
    "header": HEADER,
    "imu": Imu(header=HEADER, orientation_covariance=[float(i) for i in range(9)]),
    "scan": LaserScan(header=HEADER, angle_min=-1.5, ranges=[0.25 * i for i in range(720)]),
    "image": Image(
        header=HEADER, height=48, width=64, encoding="rgb8", step=192, data=bytes(range(256)) * 36
    ),
}


@pytest.fixture
def node() -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    created = rclpy.create_node("rclpy_peer", context=context)
    yield created
    created.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture(params=["wait_set", "producer_consumer", "thread_dispatch", "preemptive"])
def peer(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"ROS_DOMAIN_ID": str(DOMAIN)}
    process = subprocess.Popen([os.environ["INTEROP_PEER"], request.param], env=environment)
    try:
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT_S) == 0, "the peer ends cleanly on SIGINT"
    finally:
        process.kill()


def test_every_message_comes_back_unchanged(peer: subprocess.Popen[bytes], node: Node) -> None:
    received: dict[str, Any] = {}
    publishers = {}
    for topic, message in MESSAGES.items():
        publishers[topic] = node.create_publisher(type(message), topic, 10)
        node.create_subscription(
            type(message), topic + "_echo", lambda echo, t=topic: received.update({t: echo}), 10
        )
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)

    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end and len(received) < len(MESSAGES):
        assert peer.poll() is None, "the peer runs"
        for topic, publisher in publishers.items():
            # Matched in both directions, so that nothing is published into the void.
            echo_ready = node.count_publishers(topic + "_echo") > 0
            if topic not in received and publisher.get_subscription_count() > 0 and echo_ready:
                publisher.publish(MESSAGES[topic])
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    for topic, message in MESSAGES.items():
        assert received[topic] == message
