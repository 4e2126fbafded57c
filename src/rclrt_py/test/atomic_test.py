# SPDX-License-Identifier: Apache-2.0
"""Files and directories appear as a whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.files.atomic import (
    check_file,
    move_into_place,
    new_directory,
    replacing,
    write_atomically,
    write_output,
)


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text("old")
    with replacing(file) as stream:
        stream.write(b"new")
        stream.flush()
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert names(tmp_path) == {"results.json"}


def test_an_error_while_writing_a_file_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text("old")

    def fail() -> None:
        with replacing(file) as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert file.read_text() == "old"
    assert names(tmp_path) == {"results.json"}


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", "text")
        with new_directory(tmp_path / "directory"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "directory").stat().st_mode & 0o777 == 0o750


def test_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "elsewhere").read_text() == "kept"
    assert (tmp_path / "link").read_text() == "new"


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="absent/file: cannot be written: No such file"):
        write_atomically(tmp_path / "absent/file", "text")
    with pytest.raises(BadInput, match=r"--json .*: is a directory; expected the name of a file"):
        check_file("--json", tmp_path)
    with pytest.raises(BadInput, match=r"absent is no directory; make it first"):
        check_file("--json", tmp_path / "absent/file")


def test_the_standard_output_and_a_pipe_are_written_and_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_output(Path("-"), "to the terminal")
    assert capsys.readouterr().out == "to the terminal"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_output(pipe, "through the pipe")
        assert os.read(reader, 100) == b"through the pipe"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_directory_appears_when_it_is_complete(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    with new_directory(place) as made:
        (made / "file").write_text("whole")
        assert not place.exists()
    assert (place / "file").read_text() == "whole"
    assert names(tmp_path / "a") == {"b"}


def test_an_error_while_filling_a_directory_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with new_directory(tmp_path / "a" / "b") as made:
            (made / "half").write_text("")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert names(tmp_path) == set()


def test_what_is_there_already_is_not_replaced_by_a_directory(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("kept")
    with (
        pytest.raises(BadInput, match=r"--out .*full: is not empty; name a new directory"),
        new_directory(tmp_path / "full", "--out"),
    ):
        pass
    with (
        pytest.raises(BadInput, match=r"-o .*file: is a file; name a new directory"),
        new_directory(tmp_path / "full/file"),
    ):
        pass
    assert (tmp_path / "full/file").read_text() == "kept"


def test_a_complete_file_or_directory_moves_to_its_place(tmp_path: Path) -> None:
    (tmp_path / "round").mkdir()
    (tmp_path / "round/file").write_text("whole")
    move_into_place(tmp_path / "round", tmp_path / "executor/round-1")
    assert (tmp_path / "executor/round-1/file").read_text() == "whole"
    (tmp_path / "trace").write_text("new")
    (tmp_path / "kept").write_text("old")
    move_into_place(tmp_path / "trace", tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "new"
    assert names(tmp_path) == {"executor", "kept"}
