# SPDX-License-Identifier: Apache-2.0
"""The parts of the library use each other in one direction."""

from __future__ import annotations

import graphlib
import re
from pathlib import Path

import rclrt_py

LIBRARY = Path(rclrt_py.__file__).resolve().parent
IMPORT = re.compile(r"^\s*(?:from|import) rclrt_py\.(\w+)", re.MULTILINE)


def test_no_part_of_the_library_uses_one_that_uses_it() -> None:
    used: dict[str, set[str]] = {}
    for path in LIBRARY.rglob("*.py"):
        part = path.relative_to(LIBRARY).parts[0].removesuffix(".py")
        used.setdefault(part, set()).update(set(IMPORT.findall(path.read_text())) - {part})
    order = list(graphlib.TopologicalSorter(used).static_order())  # throws for a circle
    assert order.index("runs") < order.index("bounds") < order.index("report")


def test_the_library_does_not_use_the_command() -> None:
    for path in LIBRARY.rglob("*.py"):
        assert "import rclrt_cli" not in path.read_text(), path
        assert "from rclrt_cli" not in path.read_text(), path
