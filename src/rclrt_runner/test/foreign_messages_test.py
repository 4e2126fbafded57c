# SPDX-License-Identifier: Apache-2.0
"""Messages of other programs on the application's topics are ignored and counted."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from running import GENEROUS_S, RUNNER

APPLICATION = """\
rclrt: 1
name: visited
nodes: [{name: base}]
callbacks:
  - {id: tick, node: base, timer: {period_ms: 20}, wcet_ms: 0.1, publishes: [steps]}
  - {id: walk, node: base, subscription: {topic: steps}, wcet_ms: 0.1}
  - {id: bumper, node: base, event: {min_interval_ms: 200}, wcet_ms: 0.1}
  - {id: left, node: base, timer: {period_ms: 20}, wcet_ms: 0.1, publishes: [a]}
  - {id: right, node: base, timer: {period_ms: 20}, wcet_ms: 0.1, publishes: [b]}
  - {id: both, node: base, sync: {topics: [a, b], policy: approximate, window_ms: 5}, wcet_ms: 0.1}
chains:
  - {id: walking, callbacks: [tick, walk], priority: 3}
  - {id: contact, callbacks: [bumper], priority: 4}
  - {id: stereo, callbacks: [left, both], priority: 2}
"""

# A program that knows only the type, or is hostile: it publishes these messages in a loop.
VISITOR = """\
import time, rclpy
from rclrt_msgs.msg import ChainMessage, ChainToken
rclpy.init()
node = rclpy.create_node("visitor")
publishers = [node.create_publisher(ChainMessage, topic, 10)
              for topic in ("/steps", "/rclrt_events/bumper", "/a", "/b")]
messages = [ChainMessage(), ChainMessage(sender=2**32 - 1, sent_ns=2**63 - 1, stamp_ns=-2**63),
            ChainMessage(stamp_ns=2**63 - 1, tokens=[ChainToken(chain=2**32 - 1)] * 100)]
while True:
    for publisher in publishers:
        for message in messages:
            publisher.publish(message)
    time.sleep(0.02)
"""


def test_a_run_ignores_and_counts_what_is_not_its_own(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION)
    (tmp_path / "visitor.py").write_text(VISITOR)
    command = [RUNNER, str(app), "--executor", "preemptive", "--seconds", "0.5", "--not-alone"]
    visitor = subprocess.Popen(["python3", tmp_path / "visitor.py"], env=os.environ)
    try:
        for round_number in range(100):  # until the visitor has found it
            out = tmp_path / f"out-{round_number}"
            done = subprocess.run(
                [*command, "--out", out],
                capture_output=True, text=True, timeout=GENEROUS_S, check=False,
            )  # fmt: skip
            assert visitor.poll() is None
            assert done.returncode == 0, done.stderr
            results = json.loads((out / "results.json").read_text())
            if results["context"]["foreign_messages"] > 0:
                break
        assert results["context"]["foreign_messages"] > 0
        for chain in results["chains"]:
            assert chain["completed"] > 0
            assert chain["released"] <= 26
    finally:
        visitor.kill()
        visitor.wait()
