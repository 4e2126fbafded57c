# SPDX-License-Identifier: Apache-2.0
"""The files that a page may write: those that were named when the command was started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.analyses.robot_file import robot_file
from rclrt_py.plan.answer import parse

if TYPE_CHECKING:
    from rclrt_model import Application


@dataclass(frozen=True)
class Output:
    """A file to write. `what`: `app`, `priorities` or `robot`."""

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
        return robot_file(application, executor)


def _priorities(application: Application) -> str:
    """Returns a file of the priorities of all callbacks."""
    lines = [f"rclrt: 1\napplication: {application.name}\n\npriorities:\n"]
    lines += [
        f"  {callback.id}: {application.effective_priority(index)}\n"
        for index, callback in enumerate(application.callbacks)
    ]
    return "".join(lines)
