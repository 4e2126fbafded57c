# SPDX-License-Identifier: Apache-2.0
"""The kinds of executors are those of rclrt_model."""

from __future__ import annotations

from dataclasses import fields

import pytest
from rclrt_cli.executors import EXECUTORS, KINDS, ExecutorKind, kind_of


def test_the_kinds_and_their_traits_are_those_of_the_model() -> None:
    model = pytest.importorskip("rclrt_model")
    stated = [kind for kind in model.EXECUTOR_KINDS if not kind.simulated_only]
    assert [kind.name for kind in stated] == list(EXECUTORS)
    for kind in stated:
        own = {field.name: getattr(kind, field.name) for field in fields(ExecutorKind)}
        assert ExecutorKind(**own) == KINDS[kind.name]


def test_a_name_that_only_a_file_knows_has_no_trait() -> None:
    assert kind_of("of_tomorrow") == ExecutorKind("of_tomorrow")
