# SPDX-License-Identifier: Apache-2.0
"""The example applications of this installation."""

from __future__ import annotations

import os
from pathlib import Path


def examples() -> list[Path]:
    """Returns the app.yaml of each example of the checkout that the environment was entered from
    (RCLRT_ROOT). None: there is no checkout."""
    root = os.environ.get("RCLRT_ROOT")
    return sorted((Path(root) / "examples").glob("*/app.yaml")) if root else []
