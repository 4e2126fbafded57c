# SPDX-License-Identifier: Apache-2.0
"""The analysis is C++ and may be missing where only reports are made."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from rclrt_cli.errors import BadInput, RclrtError


def analysis() -> Any:
    """The module rclrt_analysis."""
    try:
        return importlib.import_module("rclrt_analysis")
    except ImportError as error:
        raise RclrtError(
            f"rclrt_analysis cannot be loaded ({error})\n  fix: make build PACKAGES=rclrt_analysis"
        ) from error


def read_input(path: Path) -> bytes:
    """The bytes of a file the user named."""
    try:
        return path.read_bytes()
    except IsADirectoryError as error:
        raise BadInput(f"{path}: is not a file; expected a task set") from error
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; expected a readable file") from error


def load_application(path: Path, priorities: Path | None = None) -> Any:
    """What rclrt_model makes of an app.yaml, with the priorities of a second file if given."""
    model = importlib.import_module("rclrt_model")
    try:
        return model.load(path, priorities)
    except model.ModelError as error:
        raise BadInput(str(error)) from error
