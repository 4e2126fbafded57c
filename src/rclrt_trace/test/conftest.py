# SPDX-License-Identifier: Apache-2.0
"""Fixtures: a real LTTng session of an ordinary user, of a run that also records itself."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rclrt_py.testing.command import command
from traced_runs import EXAMPLES, NOBODY, TWO_PROCESSES, Traced, rclrt


@pytest.fixture(
    scope="session", params=["autonomous_vehicle", "autoware_reference", "two_processes"]
)
def traced(request: pytest.FixtureRequest) -> Iterator[Traced]:
    if shutil.which("lttng-sessiond") is None:
        if "CI" in os.environ:
            pytest.fail("there is no lttng-sessiond (Debian: lttng-tools)")
        pytest.skip("there is no lttng-sessiond (Debian: lttng-tools)")
    app = EXAMPLES / request.param / "app.yaml"
    # Outside of pytest's directory, because only its owner may enter that.
    with tempfile.TemporaryDirectory(prefix="rclrt_trace_") as name:
        home = Path(name)
        if request.param == "two_processes":
            app = home / "app.yaml"
            app.write_text(TWO_PROCESSES)
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        trace, run = home / "trace", home / "run"
        line = command("run", app, "--executor", "preemptive")
        done = rclrt(
            "trace", "record", "-o", trace,
            "--", *line, "--seconds", "4", "--out", run,
            user=home,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        yield Traced(app, home, trace, run, done.stderr)
