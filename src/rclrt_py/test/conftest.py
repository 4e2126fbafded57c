# SPDX-License-Identifier: Apache-2.0
"""The package under test is the one in the source tree beside this directory."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rclrt_py.testing.comparisons import comparison, comparison_directory  # noqa: F401
from rclrt_py.testing.properties import let_properties_take_their_time

let_properties_take_their_time()
