# SPDX-License-Identifier: Apache-2.0
"""A ROS 2 workspace in a temporary directory, with the fake runner and an application."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclrt_py.testing.command import command, python_path
from rclrt_py.testing.synthetic_run import vehicle
from rclrt_py.testing.waiting import GENEROUS_S


def app_yaml() -> str:
    """The synthetic vehicle as an application file (JSON is YAML)."""
    callbacks, chains = vehicle()
    nodes = dict.fromkeys(callback.node for callback in callbacks)

    def trigger(period: int | None, topics: tuple[str, ...]) -> dict[str, Any]:
        if period is not None:
            return {"timer": {"period_ms": period / 1e6}}
        if len(topics) == 1:
            return {"subscription": {"topic": topics[0]}}
        return {"sync": {"topics": list(topics)}}

    document = {
        "rclrt": 1,
        "name": "autonomous_vehicle",
        "nodes": [{"name": node} for node in nodes],
        "callbacks": [
            {
                "id": callback.id,
                "node": callback.node,
                **trigger(callback.period, callback.topics),
                "wcet_ms": callback.wcet / 1e6,
                "publishes": list(callback.publishes),
            }
            for callback in callbacks
        ],
        "chains": [
            {
                "id": chain.id,
                "callbacks": list(chain.callbacks),
                "priority": chain.priority,
                "deadline_ms": chain.deadline / 1e6,
            }
            for chain in chains
        ],
    }
    return json.dumps(document, indent=1)


@dataclass(frozen=True)
class Workspace:
    root: Path

    @classmethod
    def make(cls, root: Path) -> Workspace:
        runner = root / "prefix/lib/rclrt_runner/rclrt_runner"
        runner.parent.mkdir(parents=True)
        runner.write_text(
            f"#!/bin/sh\nexec '{sys.executable}' -m rclrt_py.testing.fake_runner \"$@\"\n",
            encoding="utf-8",
        )
        runner.chmod(0o755)
        (root / "state").mkdir()
        (root / "app.yaml").write_text(app_yaml(), encoding="utf-8")
        return cls(root)

    @property
    def app(self) -> str:
        return str(self.root / "app.yaml")

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def state(self) -> Path:
        return self.root / "state"

    def environment(self, behaviour: dict[str, str] | None = None) -> dict[str, str]:
        return {
            **os.environ,
            "AMENT_PREFIX_PATH": str(self.root / "prefix"),
            "PYTHONPATH": python_path(),
            "FAKE_STATE": str(self.state),
            "FAKE_BEHAVIOUR": json.dumps(behaviour or {}),
        }

    def start(
        self, *arguments: str, behaviour: dict[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Starts the command in a process of its own."""
        return subprocess.Popen(
            command(*arguments),
            env=self.environment(behaviour),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *arguments: str, behaviour: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        child = self.start(*arguments, behaviour=behaviour)
        out, errors = child.communicate(timeout=GENEROUS_S)
        return subprocess.CompletedProcess(arguments, child.returncode, out, errors)

    def calls(self) -> list[list[str]]:
        path = self.state / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def results(self) -> Any:
        return json.loads((self.out / "results.json").read_text())
