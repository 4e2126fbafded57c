# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a real session, as an ordinary user, of a run that records itself, too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NOBODY = 65534
GENEROUS_S = 600  # only a program that hangs takes as long


def rclrt(*arguments: str | Path, user: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command; with `user` as nobody, who has that directory as home."""
    command = [sys.executable, "-m", "rclrt_cli", *(str(part) for part in arguments)]
    environment = dict(os.environ)
    if user is not None:
        home = str(user)
        environment |= {"HOME": home, "LTTNG_HOME": home, "ROS_LOG_DIR": home, "TMPDIR": home}
        if os.geteuid() == 0:
            to_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            command = [*to_nobody, *command]
    return subprocess.run(
        command,
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
    """A run that was traced and that rclrt_runner recorded itself."""

    app: Path
    home: Path
    trace: Path
    run: Path
    said: str


@pytest.fixture(
    scope="session", params=["autonomous_vehicle", "autoware_reference", "two_processes"]
)
def traced(request: pytest.FixtureRequest) -> Iterator[Traced]:
    if shutil.which("lttng-sessiond") is None:
        if "CI" in os.environ:
            pytest.fail("there is no lttng-sessiond (Debian: lttng-tools)")
        pytest.skip("there is no lttng-sessiond (Debian: lttng-tools)")
    app = EXAMPLES / request.param / "app.yaml"
    # Not below pytest's directory, which only its owner may enter.
    with tempfile.TemporaryDirectory(prefix="rclrt_trace_") as name:
        home = Path(name)
        if request.param == "two_processes":
            app = home / "app.yaml"
            app.write_text(TWO_PROCESSES)
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        trace, run = home / "trace", home / "run"
        command = [sys.executable, "-m", "rclrt_cli", "run", app, "--executor", "preemptive"]
        done = rclrt(
            "trace", "record", "-o", trace,
            "--", *command, "--seconds", "4", "--out", run,
            user=home,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        yield Traced(app, home, trace, run, done.stderr)
