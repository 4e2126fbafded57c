# SPDX-License-Identifier: Apache-2.0
"""Paths in the source tree."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
PROGRAM = PACKAGE / "scripts/rclrt.py"
ROOT = PACKAGE.parents[1]
LAUNCHER = ROOT / "rclrt"
SCHEMA = ROOT / "schemas/results.schema.json"
