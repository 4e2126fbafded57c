# SPDX-License-Identifier: Apache-2.0
"""Drawn callbacks that wait."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import draw_application
from rclrt_experiments.generator.package import package_files
from rclrt_experiments.generator.rules import Rules
from rclrt_py.errors import BadInput
from rclrt_py.native import load_application

RULES = Rules(random_seed=3, wait_p=0.5, max_wait=Decimal("0.1"))


def test_waits_are_drawn_and_leave_all_else_as_it_is(tmp_path: Path) -> None:
    waiting = draw_application(RULES)
    text = app_yaml(waiting)
    without = app_yaml(draw_application(replace(RULES, wait_p=0.0)))
    assert re.sub(r", waits_ms: [0-9.]+", "", text) == without
    assert text != without
    file = tmp_path / "app.yaml"
    file.write_text(text)
    drawn = load_application(file).callbacks
    waits = {each.id: each.waits_ns for each in drawn if each.waits_ns}
    assert waits == {waiting.id_of(each): ns for each, ns in waiting.waits_ns.items()}
    assert 0 < len(waits) < len(drawn)
    for callback, wait_ns in waiting.waits_ns.items():
        period_us = waiting.times[waiting.graph.chains_of(callback)[0]].period_us
        assert 0 < wait_ns <= period_us * 100


def test_a_package_of_callbacks_that_wait_is_refused() -> None:
    with pytest.raises(BadInput, match="the callbacks of a package do not wait"):
        dict(package_files(draw_application(RULES), {}, "rclcpp"))
