# SPDX-License-Identifier: Apache-2.0
"""The files that a page may write: those that were named when the command was started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.analyses.robot_file import robot_file
from rclrt_py.errors import BadInput
from rclrt_py.executors import kind_of
from rclrt_py.plan.answer import parse

if TYPE_CHECKING:
    from rclrt_model import Application


KINDS = ("app", "priorities", "robot")


@dataclass(frozen=True)
class Output:
    """A file to write. `what` is one of KINDS."""

    what: str
    path: Path

    def text(self, app: str, name: str, executor: str) -> str:
        """Returns the content of the file for the text of an app.yaml. Throws BadInput if it is not
        possible under this executor."""
        if self.what == "app":
            return app
        application = parse(app, name)
        if self.what == "priorities":
            return _priorities(application)
        return _robot(application, executor)


def _robot(application: Application, executor: str) -> str:
    """Returns the text of a robot.yaml. Throws BadInput if it cannot express the application."""
    if not kind_of(executor).on_rclcpp:
        raise BadInput(
            f"robot.yaml: the kind {executor} does not run rclcpp nodes; choose another executor, "
            "such as preemptive"
        )
    processes: dict[str, str] = {}
    for each in application.executors:
        other = processes.setdefault(each.process, each.name)
        if other != each.name:
            raise BadInput(
                f"robot.yaml: the executors {other} and {each.name} are in one process, but a "
                "process of rclcpp nodes has one executor; give each a `process` of its own"
            )
    return robot_file(application, executor, "rclrt plan")


def _priorities(application: Application) -> str:
    """Returns a file of the priorities of all callbacks."""
    lines = [f"rclrt: 1\napplication: {application.name}\n\npriorities:\n"]
    lines += [
        f"  {callback.id}: {application.effective_priority(index)}\n"
        for index, callback in enumerate(application.callbacks)
    ]
    return "".join(lines)
