# SPDX-License-Identifier: Apache-2.0
"""rclrt and rclpy, the reference client, talk to each other across processes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

from builtin_interfaces.msg import Time
from peer import LIMIT_S, meet, meet_service, spin_until
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Image, Imu, LaserScan
from std_msgs.msg import Bool, Header, String
from std_srvs.srv import SetBool

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


def test_a_python_client_calls_our_service(peer: subprocess.Popen[bytes], node: Node) -> None:
    client = node.create_client(SetBool, "negate")
    assert client.wait_for_service(timeout_sec=LIMIT_S)
    meet_service(node, lambda: client.call_async(SetBool.Request()))
    for data in (True, False):
        future = client.call_async(SetBool.Request(data=data))
        assert spin_until(node, future.done)
        assert future.result() == SetBool.Response(success=not data, message="served by rclrt")
    assert peer.poll() is None


def test_our_client_calls_a_python_service(peer: subprocess.Popen[bytes], node: Node) -> None:
    def negate(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success = not request.data
        response.message = "served by rclpy"
        return response

    node.create_service(SetBool, "rclpy_negate", negate)
    answers: list[str] = []
    node.create_subscription(String, "answer", lambda answer: answers.append(answer.data), 10)
    questions = node.create_publisher(Bool, "ask", 10)
    # Matched in both directions, so that no message is lost.
    assert spin_until(
        node,
        lambda: (
            questions.get_subscription_count() > 0
            and node.count_publishers("answer") > 0
            and node.count_clients("rclpy_negate") > 0
        ),
    )

    def ask_false() -> Callable[[], bool]:
        questions.publish(Bool(data=False))
        return lambda: "true: served by rclpy" in answers

    meet(node, ask_false)
    questions.publish(Bool(data=True))
    assert spin_until(node, lambda: answers[-1] == "false: served by rclpy")
    assert answers.count("false: served by rclpy") == 1, "one answer for one question"
    assert set(answers) == {"true: served by rclpy", "false: served by rclpy"}
    assert peer.poll() is None


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
            # Matched in both directions, so that no message is lost.
            echo_ready = node.count_publishers(topic + "_echo") > 0
            if topic not in received and publisher.get_subscription_count() > 0 and echo_ready:
                publisher.publish(MESSAGES[topic])
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    for topic, message in MESSAGES.items():
        assert received[topic] == message
