# SPDX-License-Identifier: Apache-2.0
"""rclpy reads and sets the parameters of an rclrt node, as `ros2 param` does."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from peer import LIMIT_S, meet, meet_service, spin_until
from rcl_interfaces.msg import ParameterDescriptor, ParameterEvent, ParameterType
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.task import Future

Peer = subprocess.Popen[bytes]


@pytest.fixture
def client(peer: Peer, node: Node) -> AsyncParameterClient:
    client = AsyncParameterClient(node, "rclrt_peer")
    assert client.wait_for_services(timeout_sec=LIMIT_S)
    for call in (
        lambda: client.list_parameters([], 0),
        lambda: client.describe_parameters(["gain"]),
        lambda: client.get_parameter_types(["gain"]),
        lambda: client.get_parameters(["gain"]),
        lambda: client.set_parameters([]),
        lambda: client.set_parameters_atomically([]),
    ):
        meet_service(node, call)
    return client


def answer(node: Node, future: Future) -> Any:
    assert spin_until(node, future.done)
    return future.result()


def test_python_lists_and_describes_our_parameters(
    client: AsyncParameterClient, node: Node
) -> None:
    listed = answer(node, client.list_parameters([], 0)).result
    assert listed.names == ["frame", "gain", "limits.max"]
    assert listed.prefixes == ["limits"]
    frame, gain, unknown = answer(
        node, client.describe_parameters(["frame", "gain", "unknown"])
    ).descriptors
    assert frame.read_only
    assert frame.type == ParameterType.PARAMETER_STRING
    assert gain.description == "of the controller"
    assert (gain.floating_point_range[0].from_value, gain.floating_point_range[0].to_value) == (
        0.0,
        10.0,
    )
    assert unknown == ParameterDescriptor(name="unknown")
    types = answer(node, client.get_parameter_types(["limits.max", "unknown"])).types
    assert list(types) == [ParameterType.PARAMETER_INTEGER, ParameterType.PARAMETER_NOT_SET]


def test_python_gets_and_sets_our_parameters(client: AsyncParameterClient, node: Node) -> None:
    events: list[ParameterEvent] = []
    node.create_subscription(ParameterEvent, "/parameter_events", events.append, 10)

    def tell_gain() -> Callable[[], bool]:
        answer(node, client.set_parameters([Parameter("gain", value=1.5)]))
        return lambda: any(event.node == "/rclrt_peer" for event in events)

    meet(node, tell_gain)

    def values(*names: str) -> list[object]:
        got = answer(node, client.get_parameters(list(names))).values
        return [parameter_value_to_python(value) for value in got]

    assert values("gain", "frame", "unknown", "limits.max") == [1.5, "map", None, 7]

    events.clear()
    wanted = [Parameter("gain", value=2.5), Parameter("frame", value="odom")]
    gain, frame = answer(node, client.set_parameters(wanted)).results
    assert gain.successful
    assert (frame.successful, frame.reason) == (False, 'parameter "frame" is read-only')
    assert values("gain", "frame") == [2.5, "map"]

    wanted = [Parameter("gain", value=3.5), Parameter("limits.max", value=13)]
    result = answer(node, client.set_parameters_atomically(wanted)).result
    assert (result.successful, result.reason) == (False, "unlucky")
    assert values("gain", "limits.max") == [2.5, 7]

    (too_much,) = answer(node, client.set_parameters([Parameter("gain", value=11.0)])).results
    assert too_much.reason == 'parameter "gain" must be from 0 to 10, not 11'

    assert spin_until(node, lambda: any(event.node == "/rclrt_peer" for event in events))
    event = next(event for event in events if event.node == "/rclrt_peer")
    assert [changed.name for changed in event.changed_parameters] == ["gain"]
    assert event.changed_parameters[0].value.double_value == 2.5
