# SPDX-License-Identifier: Apache-2.0
"""Runs the command, also as an ordinary user, and holds the traced results."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.testing.command import command
from rclrt_py.testing.waiting import GENEROUS_S

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NOBODY = 65534


def rclrt(*arguments: str | Path, user: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command. With `user`, runs it as an ordinary user with that home directory."""
    line = command(*arguments)
    environment = dict(os.environ)
    if user is not None:
        home = str(user)
        environment |= {"HOME": home, "LTTNG_HOME": home, "ROS_LOG_DIR": home, "TMPDIR": home}
        if os.geteuid() == 0:
            to_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            line = [*to_nobody, *line]
    return subprocess.run(
        line,
        env=environment, capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip


TWO_PROCESSES = """\
rclrt: 1
name: two_processes
executors: [{name: near, process: first}, {name: far, process: second}]
nodes: [{name: sensor, executor: near}, {name: motor, executor: far}]
callbacks:
  - {id: sense, node: sensor, timer: {period_ms: 20}, wcet_ms: 0.5, publishes: [seen]}
  - {id: move, node: motor, subscription: {topic: seen}, wcet_ms: 0.5}
chains: [{id: react, callbacks: [sense, move], deadline_ms: 20, priority: 1}]
"""


@dataclass(frozen=True)
class Traced:
    """A run that LTTng traced and rclrt_runner recorded."""

    app: Path
    home: Path
    trace: Path
    run: Path
    said: str
