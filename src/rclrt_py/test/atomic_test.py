# SPDX-License-Identifier: Apache-2.0
"""Files and directories appear complete, or not at all."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.files.atomic import (
    check_file,
    move_into_place,
    new_directory,
    replacing,
    unfinished,
    write_atomically,
    write_new,
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


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "private"
    file.write_text("old")
    file.chmod(0o600)
    write_atomically(file, "new")
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_content_is_on_the_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def fsync(descriptor: int) -> None:
        calls.append(("fsync", os.fstat(descriptor).st_size))

    def replace(source: str, place: Path) -> None:
        calls.append(("replace", Path(source).stat().st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    write_atomically(tmp_path / "file", "text")
    assert calls == [("fsync", 4), ("replace", 4)]


def test_a_long_name_is_written(tmp_path: Path) -> None:
    for name in ("n" * 255, "ü" * 127):
        write_atomically(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"
    with new_directory(tmp_path / ("d" * 255)):
        pass
    assert names(tmp_path) == {"n" * 255, "ü" * 127, "d" * 255}


def test_errors_of_the_block_are_not_told_as_a_failed_write(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), replacing(tmp_path / "file"):
        raise BrokenPipeError
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "file"):
        (tmp_path / "trace").read_bytes()
    with pytest.raises(BrokenPipeError), new_directory(tmp_path / "directory"):
        raise BrokenPipeError
    assert names(tmp_path) == set()


def test_a_file_without_room_is_named_and_left_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        for size in (2000, 2_000_000):  # smaller and larger than the buffer
            with pytest.raises(BadInput, match="file: cannot be written: File too large"):
                write_atomically(file, b"x" * size)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text() == "old"
    assert names(tmp_path) == {"file"}


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


def test_an_empty_directory_stays_and_is_filled(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir(0o700)
    before = place.stat().st_ino
    (tmp_path / "link").symlink_to("place")
    with new_directory(tmp_path / "link") as made:
        (made / "file").write_text("whole")
        (made / "directory").mkdir()
        assert not (place / "file").exists()
    assert names(tmp_path) == {"place", "link"}
    assert names(place) == {"file", "directory"}
    assert (place.stat().st_ino, place.stat().st_mode & 0o777) == (before, 0o700)


def test_the_working_directory_is_filled_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with new_directory(Path()) as made:
        (made / "file").write_text("whole")
    assert Path("file").read_text() == "whole"
    assert names(tmp_path) == {"file"}


def test_an_error_while_filling_an_empty_directory_leaves_it_empty(tmp_path: Path) -> None:
    def fail() -> None:
        with new_directory(tmp_path) as made:
            (made / "half").write_text("")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert names(tmp_path) == set()


def test_what_appears_meanwhile_in_an_empty_directory_is_kept(tmp_path: Path) -> None:
    def fill() -> None:
        with new_directory(tmp_path) as made:
            (made / "file").write_text("ours")
            (tmp_path / "file").write_text("theirs")

    with pytest.raises(BadInput, match="is not empty; name a new directory"):
        fill()
    assert (tmp_path / "file").read_text() == "theirs"
    assert names(tmp_path) == {"file"}


def test_a_failed_move_into_an_empty_directory_leaves_it_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def fail_on_b(source: Path, place: Path) -> Path:
        if place == tmp_path / "b":
            raise OSError(errno.EIO, "Input/output error")
        return rename(source, place)

    def fill() -> None:
        with new_directory(tmp_path) as made:
            (made / "a").write_text("")
            (made / "b").write_text("")

    monkeypatch.setattr(Path, "rename", fail_on_b)
    with pytest.raises(BadInput, match="cannot be written: Input/output error"):
        fill()
    assert names(tmp_path) == set()


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


def test_files_of_killed_writers_are_found_by_their_names(tmp_path: Path) -> None:
    place = tmp_path / "results.json"
    for name in (".results.json.ab_c1234", ".results.json.backup", ".results.json.UPPER123"):
        (tmp_path / name).write_text("")
    (tmp_path / ".results.json.adirecto").mkdir()
    with replacing(place):
        assert len(unfinished(place)) == 2
    assert unfinished(place) == [tmp_path / ".results.json.ab_c1234"]


def test_a_new_file_never_replaces_one_and_is_gone_if_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    write_new(file, "first")
    link.symlink_to(tmp_path / "nowhere")
    for there in (file, link):
        with pytest.raises(BadInput, match="exists already, and is not overwritten"):
            write_new(there, "second")
    assert file.read_text() == "first"

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(BadInput, match="other: cannot be written: No space left"):
        write_new(tmp_path / "other", "text")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "link"]
