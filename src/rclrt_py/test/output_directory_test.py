# SPDX-License-Identifier: Apache-2.0
"""The directory of --out, with files of earlier commands and of other users."""

from __future__ import annotations

from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.runs.output_directory import MARKER, Plan, claimed
from rclrt_py.runs.run_data import RESULTS

PLAN = Plan("comparison", ("preemptive",), 2, 10.0)


def test_files_of_a_killed_writer_are_removed_and_those_of_the_user_stay(tmp_path: Path) -> None:
    with claimed(tmp_path, PLAN):
        (tmp_path / RESULTS).write_text("{}")
    left = tmp_path / f".{RESULTS}.ab_c1234"
    mine = tmp_path / ".notes.txt.ab_c1234"
    left.write_text("")
    mine.write_text("")
    with claimed(tmp_path, PLAN):
        assert not left.exists()
        assert not (tmp_path / RESULTS).exists()
    assert mine.exists()


def test_a_marker_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    (out / MARKER).symlink_to(victim)
    with pytest.raises(BadInput, match=r"\.rclrt in it is a link"), claimed(out, PLAN):
        pass
    assert victim.read_text() == "kept"
