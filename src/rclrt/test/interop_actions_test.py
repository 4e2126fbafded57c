# SPDX-License-Identifier: Apache-2.0
"""Actions between rclrt and rclpy, in both directions."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from peer import LIMIT_S, meet, meet_service, spin_until
from rclpy.action import ActionClient, ActionServer, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Int32, String
from test_msgs.action import Fibonacci

Peer = subprocess.Popen[bytes]


def answer(node: Node, future: Future) -> Any:
    assert spin_until(node, future.done)
    return future.result()


def ready_client(node: Node) -> ActionClient:
    client = ActionClient(node, Fibonacci, "fibonacci")
    assert client.wait_for_server(timeout_sec=LIMIT_S)
    meet_service(node, lambda: client.send_goal_async(Fibonacci.Goal(order=-1)))
    heard: list[Any] = []
    goals: list[Any] = []

    def be_heard() -> Callable[[], bool]:
        goal = answer(node, client.send_goal_async(Fibonacci.Goal(order=1), heard.append))
        goals.append(goal)
        return lambda: bool(heard)

    meet(node, be_heard)
    meet_service(node, goals[-1].get_result_async)
    meet_service(node, goals[-1].cancel_goal_async)
    return client


def test_a_python_client_sends_a_goal_to_our_server(peer: Peer, node: Node) -> None:
    client = ready_client(node)
    feedback: list[list[int]] = []
    goal = answer(
        node,
        client.send_goal_async(
            Fibonacci.Goal(order=5),
            feedback_callback=lambda message: feedback.append(list(message.feedback.sequence)),
        ),
    )
    assert goal.accepted
    ended = answer(node, goal.get_result_async())
    assert ended.status == GoalStatus.STATUS_SUCCEEDED
    assert list(ended.result.sequence) == [0, 1, 1, 2, 3, 5]
    assert spin_until(node, lambda: len(feedback) == 6)
    assert feedback[2] == [0, 1, 1]
    client.destroy()
    assert peer.poll() is None


def test_our_server_rejects_and_cancels_for_a_python_client(peer: Peer, node: Node) -> None:
    client = ready_client(node)
    assert not answer(node, client.send_goal_async(Fibonacci.Goal(order=-1))).accepted

    goal = answer(node, client.send_goal_async(Fibonacci.Goal(order=1_000_000)))
    canceling = answer(node, goal.cancel_goal_async())
    assert canceling.return_code == CancelGoal.Response.ERROR_NONE
    assert [info.goal_id for info in canceling.goals_canceling] == [goal.goal_id]
    assert answer(node, goal.get_result_async()).status == GoalStatus.STATUS_CANCELED
    assert spin_until(node, lambda: goal.status == GoalStatus.STATUS_CANCELED)
    client.destroy()
    assert peer.poll() is None


def test_our_client_sends_a_goal_to_a_python_server(peer: Peer, node: Node) -> None:
    def execute(goal: Any) -> Fibonacci.Result:
        goal.publish_feedback(Fibonacci.Feedback(sequence=[0, 1]))
        goal.succeed()
        return Fibonacci.Result(sequence=list(range(goal.request.order)))

    server = ActionServer(
        node,
        Fibonacci,
        "rclpy_fibonacci",
        execute,
        goal_callback=lambda goal: GoalResponse.ACCEPT if goal.order > 0 else GoalResponse.REJECT,
    )
    went: list[str] = []
    node.create_subscription(String, "went", lambda message: went.append(message.data), 10)
    orders = node.create_publisher(Int32, "go", 10)
    # Matched in both directions, so that no message is lost.
    parts = [f"rclpy_fibonacci/_action/{part}" for part in ("send_goal", "get_result")]
    assert spin_until(
        node,
        lambda: (
            orders.get_subscription_count() > 0
            and node.count_publishers("went") > 0
            and node.count_subscribers("rclpy_fibonacci/_action/feedback") > 0
            and all(node.count_clients(part) > 0 for part in parts)
        ),
    )

    def order_one() -> Callable[[], bool]:
        orders.publish(Int32(data=1))
        return lambda: {"accepted", "feedback 0 1", "succeeded 0"} <= set(went)

    meet(node, order_one)
    went.clear()
    orders.publish(Int32(data=3))
    assert spin_until(node, lambda: "succeeded 0 1 2" in went), went
    assert "accepted" in went
    assert spin_until(node, lambda: "feedback 0 1" in went), went
    orders.publish(Int32(data=0))
    assert spin_until(node, lambda: went[-1] == "rejected")
    assert went.count("rejected") == 1
    server.destroy()
    assert peer.poll() is None
