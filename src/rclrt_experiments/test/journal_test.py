# SPDX-License-Identifier: Apache-2.0
"""The output directory of experiments if other users can write there."""

from __future__ import annotations

from pathlib import Path

import pytest
from rclrt_experiments.journal import JOURNAL, PLAN, opened
from rclrt_py.errors import BadInput


def test_a_plan_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("")
    out = tmp_path / "out"
    out.mkdir()
    (out / PLAN).symlink_to(victim)
    with pytest.raises(BadInput, match="is a link"), opened(out, {}, resume=False):
        pass
    assert victim.read_text() == ""


def test_a_journal_that_is_a_link_is_neither_cut_nor_written(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("a line without its end")
    out = tmp_path / "out"
    out.mkdir()
    (out / PLAN).write_text('{"rclrt_experiment": 2}')
    (out / JOURNAL).symlink_to(victim)
    with pytest.raises(BadInput, match="is a link"), opened(out, {}, resume=True):
        pass
    assert victim.read_text() == "a line without its end"


def test_the_line_that_a_kill_cut_short_is_removed(tmp_path: Path) -> None:
    (tmp_path / PLAN).write_text('{"rclrt_experiment": 2}')
    (tmp_path / JOURNAL).write_text('{"unit":')
    with opened(tmp_path, {}, resume=True) as journal:
        assert (tmp_path / JOURNAL).read_text() == ""
        assert journal.stream is not None
        journal.stream.write("next\n")
        journal.stream.flush()
        assert (tmp_path / JOURNAL).read_text() == "next\n"
