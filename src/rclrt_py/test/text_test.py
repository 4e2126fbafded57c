# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as they are displayed."""

from __future__ import annotations

import pytest
from rclrt_py.text import clean, exact, number, ratio, shorten


def test_control_characters_of_a_name_do_not_reach_the_terminal() -> None:
    assert shorten("evil\x1b[2Jname\n", 40) == "evil\ufffd[2Jname\ufffd"
    assert shorten("abcdef", 4) == "abc…"


def test_what_is_not_known_is_a_dash() -> None:
    assert (number(None, 3), number(1.23456, 3), number(7.0, 0)) == ("-", "1.235", "7")
    assert (ratio(None, 1.0), ratio(1.0, None), ratio(1.0, 0.0)) == ("-", "-", "-")


def test_an_exact_time_has_no_exponent() -> None:
    assert [exact(value) for value in (0.0, 1e-6, 25.3, 100.0, 666_667.0)] == [
        *("0", "0.000001", "25.3", "100", "666667")
    ]


def test_a_large_ratio_needs_no_decimals() -> None:
    assert (ratio(1.0, 3.0), ratio(250.4, 2.0)) == ("0.33", "125")


@pytest.mark.parametrize("character", ["\n", "\x1b", "\x85", "\u2028", "\u2029", "\u202e"])
def test_a_clean_text_has_one_line_and_no_control_characters(character: str) -> None:
    assert clean(f"a{character}b: 1") == "a\N{REPLACEMENT CHARACTER}b: 1"
