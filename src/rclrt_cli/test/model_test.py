# SPDX-License-Identifier: Apache-2.0
"""The application beside the results of a comparison."""

from __future__ import annotations

from pathlib import Path

from rclrt_py.runs.application import ApplicationInfo, describe_app_file
from rclrt_py.testing.workspace import Workspace


def test_compare_refuses_a_broken_app_file_before_it_starts_anything(workspace: Workspace) -> None:
    Path(workspace.app).write_text("rclrt: 1\nname: x\nnodez: []\n")
    done = workspace.run("compare", workspace.app, "--out", str(workspace.out))
    assert done.returncode == 2
    assert "app.yaml:3:1" in done.stderr
    assert not workspace.out.exists()
    assert workspace.calls() == []


def test_compare_keeps_the_application_for_later_reports(workspace: Workspace) -> None:
    done = workspace.run(
        *("compare", workspace.app, "--executors", "preemptive", "--seconds", "1"),
        *("--out", str(workspace.out)),
    )
    assert done.returncode == 0, done.stderr
    info = ApplicationInfo.load(workspace.out / "application.json")
    assert info == describe_app_file(Path(workspace.app))
    Path(workspace.app).unlink()
    assert workspace.run("report", str(workspace.out)).returncode == 0
    assert '"complete":true' in (workspace.out / "report.html").read_text()
