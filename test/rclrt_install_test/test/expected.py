# SPDX-License-Identifier: Apache-2.0
"""The application of the consumers, with response times that were calculated by hand.

Fixed priorities on one core, preemptive (Joseph and Pandya, The Computer Journal 29(5), 1986):
  steering: 2 ms, its own work; it has the highest priority.
  planning: R = 5 + 1 + ceil(R / 10) * 2, smallest solution R = 8 ms.
"""

from __future__ import annotations

from pathlib import Path

CONSUMER = Path(__file__).resolve().parent.parent / "consumer"
APP = CONSUMER / "app.yaml"
BOUNDS_MS = {"steering": 2.0, "planning": 8.0}
"""Bounds of the chains, in the order of the file. They are proved: both run on one core."""
