# SPDX-License-Identifier: Apache-2.0
"""The example applications of this installation, and the choice of one on the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclrt_py.errors import BadInput
from rclrt_py.native import model
from rclrt_py.plan.session import Session

BUNDLED = Path(__file__).resolve().parent.parent / "examples"
"""The examples of an installed package. The sources have theirs in the checkout."""


def examples() -> list[Path]:
    """Returns the app.yaml of each example: of the installed package, or else of the checkout that
    the environment was entered from (RCLRT_ROOT). Empty: there is neither."""
    root = os.environ.get("RCLRT_ROOT")
    directory = BUNDLED if BUNDLED.is_dir() or not root else Path(root) / "examples"
    return sorted(directory.glob("*/app.yaml"))


def is_example(path: Path) -> bool:
    """Returns whether the path leads to an example, of the installed package or of the checkout."""
    root = os.environ.get("RCLRT_ROOT")
    place = path.resolve()
    return is_bundled(path) or (
        bool(root) and place.is_relative_to((Path(str(root)) / "examples").resolve())
    )


def is_bundled(path: Path) -> bool:
    """Returns whether the path leads to a file of the installed package's examples."""
    return path.resolve().is_relative_to(BUNDLED)


@dataclass(frozen=True)
class Offer:
    """Examples of which the page opens one. None of them is written."""

    paths: Sequence[Path]
    session_of: Callable[[Path], Session]
    """Makes a session that is not open yet."""
    executor: str

    def described(self) -> list[dict[str, Any]]:
        """Returns name, description and size of each example."""
        found = []
        for path in self.paths:
            application = model().load(path)
            found.append(
                {
                    "name": path.parent.name,
                    "description": application.description,
                    "callbacks": len(application.callbacks),
                    "chains": len(application.chains) + len(application.cause_effect_chains),
                    "executors": len(application.executors),
                }
            )
        return found

    def open(self, name: str, first: int) -> Session:
        """Opens an example; its first version has the id `first`. Throws BadInput if there is none
        of this name."""
        for path in self.paths:
            if path.parent.name == name:
                session = self.session_of(path)
                try:
                    session.open(self.executor, first)
                except BaseException:
                    session.worker.stop()
                    raise
                return session
        raise BadInput(f"there is no example '{name}'")
