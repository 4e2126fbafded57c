# SPDX-License-Identifier: Apache-2.0
"""Both sides of the interop tests: an rclpy node in this process, and an rclrt process under each
executor."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
import rclpy
from peer import LIMIT_S
from rclpy.context import Context
from rclpy.node import Node

DOMAIN = int(os.environ["ROS_DOMAIN_ID"])


@pytest.fixture
def node() -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    created = rclpy.create_node("rclpy_peer", context=context)
    yield created
    created.destroy_node()
    rclpy.shutdown(context=context)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs every test with a peer under every executor."""
    if "peer" in metafunc.fixturenames:
        named = subprocess.run(
            [os.environ["INTEROP_PEER"], "--executors"], capture_output=True, text=True, check=True
        )
        metafunc.parametrize("peer", named.stdout.split(), indirect=True)


@pytest.fixture
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
