# SPDX-License-Identifier: Apache-2.0
"""The kinds of executors are those of rclrt_model."""

from __future__ import annotations

from dataclasses import fields

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.executor_kind import ExecutorKind
from rclrt_py.executors import (
    EXECUTORS,
    KINDS,
    OPTIONS_HELP,
    check_executor,
    kind_of,
    parse_executors,
)


def test_the_kinds_and_their_traits_are_those_of_the_model() -> None:
    model = pytest.importorskip("rclrt_model")
    stated = [kind for kind in model.EXECUTOR_KINDS if not kind.simulated_only]
    assert [kind.name for kind in stated] == list(EXECUTORS)
    for kind in stated:
        own = {field.name: getattr(kind, field.name) for field in fields(ExecutorKind)}
        assert ExecutorKind(**own) == KINDS[kind.name]
    assert OPTIONS_HELP.endswith(model.EXECUTOR_OPTIONS_HELP)


def test_a_name_that_only_a_file_knows_has_no_trait() -> None:
    assert kind_of("of_tomorrow") == ExecutorKind("of_tomorrow")


def test_an_executor_with_options_is_of_its_kind() -> None:
    assert kind_of("wait_set:threads=4") == KINDS["wait_set"]


def test_options_are_put_in_the_order_of_the_results() -> None:
    pytest.importorskip("rclrt_model")
    assert check_executor("wait_set:order=arbitrary:threads=2") == (
        "wait_set:threads=2:order=arbitrary"
    )
    assert parse_executors("wait_set,wait_set:threads=2") == ("wait_set", "wait_set:threads=2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wait_sett:threads=2", "unknown executor 'wait_sett'; did you mean 'wait_set'?"),
        ("wait_set:threads=0", "expected a whole number from 1 to 64"),
        ("edf:threads=2", "executor edf has no options"),
        ("wait_set,wait_set:threads=1", "executor 'wait_set' is listed more than once"),
    ],
)
def test_what_is_no_executor_is_bad_input(text: str, said: str) -> None:
    pytest.importorskip("rclrt_model")
    with pytest.raises(BadInput) as error:
        parse_executors(text)
    assert said in str(error.value)
