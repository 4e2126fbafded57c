# SPDX-License-Identifier: Apache-2.0
"""Draws how often and for how long the callbacks of a verified application wait."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.rules import Rules


def with_waits(rules: Rules) -> Rules:
    """Returns the same rules, with callbacks that wait."""
    draws = Draws(rules.random_seed, "callbacks that wait")
    return replace(
        rules,
        wait_p=draws.one_of((0.1, 0.3, 1.0)),
        max_wait=draws.one_of((Decimal("0.01"), Decimal("0.1"), Decimal("0.4"))),
    )
