# SPDX-License-Identifier: Apache-2.0
"""The application of the consumers, and its response times by hand.

Fixed priorities on one core, preemptive (Joseph and Pandya, The Computer Journal 29(5), 1986):
  steering: 2 ms, its own work; nothing is more urgent.
  planning: R = 5 + 1 + ceil(R / 10) * 2, smallest solution R = 8 ms.
"""

from __future__ import annotations

from pathlib import Path

CONSUMER = Path(__file__).resolve().parent.parent / "consumer"
APP = CONSUMER / "app.yaml"
BOUNDS_MS = {"steering": 2.0, "planning": 8.0}
"""Of the chains, in the order of the file. Proved, since both are on one core."""
