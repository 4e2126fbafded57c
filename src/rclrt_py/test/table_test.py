# SPDX-License-Identifier: Apache-2.0
"""Columns of tables: widths, alignment, colours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.terminal.table import Columns, Paint, fitted_lines, markdown_lines

CELLS = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=8)


def test_the_first_column_is_aligned_left_and_the_others_right() -> None:
    columns = Columns(10, 6, 6)
    assert columns.line("chain", "n", "worst") == "chain          n worst"
    assert columns.line("a", "10", "2.5") == "a             10   2.5"
    assert columns.indent == " " * 10


def test_a_line_has_no_blanks_at_its_end() -> None:
    assert Columns(10, 6, 6).line("chain", "1", "") == "chain          1"
    assert Columns(10).line("chain") == "chain"


def test_a_cell_behind_the_last_column_is_added_as_it_is() -> None:
    assert Columns(4, 4).line("a", "1", "  if b", ", c") == "a      1  if b, c"


def test_a_named_column_leaves_two_blanks_behind_the_longest_name() -> None:
    columns = Columns.named(["chain", "obstacles"], 4)
    assert columns.line("obstacles", "1") == "obstacles     1"
    assert columns.line("chain", "10") == "chain        10"


def test_colour_does_not_count_for_the_width() -> None:
    plain, coloured = Paint(False), Paint(True)
    columns = Columns(8, 8)
    shown = columns.line(coloured.dim("ok"), coloured.red("12"))
    assert shown == "\x1b[2mok\x1b[0m            \x1b[31m12\x1b[0m"
    assert columns.line(plain.dim("ok"), plain.red("12")) == "ok            12"


def test_a_fitted_table_is_as_wide_as_its_cells() -> None:
    rows = [("", "n", "p50"), ("preemptive", "1000", "5.1"), ("edf", "20", "12.25")]
    assert list(fitted_lines(rows)) == [
        "               n    p50",
        "preemptive  1000    5.1",
        "edf           20  12.25",
    ]
    assert list(fitted_lines(rows, left=3)) == [
        "            n     p50",
        "preemptive  1000  5.1",
        "edf         20    12.25",
    ]


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6), st.integers(0, 3))
def test_no_cell_of_a_fitted_table_touches_the_next(
    rows: list[tuple[str, str, str]], left: int
) -> None:
    for row, line in zip(rows, fitted_lines(rows, left), strict=True):
        assert line.split() == [cell for cell in row if cell]


def test_markdown_says_the_side_of_each_column_and_escapes_bars() -> None:
    assert list(markdown_lines(("", "n", "a|b"), [("x", "1", "2")])) == [
        "|  | n | a\\|b |",
        "| --- | --: | --: |",
        "| x | 1 | 2 |",
    ]
    assert list(markdown_lines(("a", "b"), [], left=2))[1] == "| --- | --- |"
