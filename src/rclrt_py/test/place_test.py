# SPDX-License-Identifier: Apache-2.0
"""A link stays and its target is written. Places of the kernel are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.files.atomic import check_file, new_directory, write_atomically, write_output

BELOW = "is below /dev or /proc, where no file or directory can be made; name a place elsewhere"


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/file").write_text("old")
    (tmp_path / "hop").symlink_to("there/file")
    (tmp_path / "link").symlink_to(tmp_path / "hop")
    check_file("--json", tmp_path / "link")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "there/file").read_text() == "new"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "hop").is_symlink()
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["file"]


def test_a_link_to_nothing_yet_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to("made-file")
    (tmp_path / "directory").symlink_to("made-directory")
    write_output(tmp_path / "file", "new")
    with new_directory(tmp_path / "directory") as made:
        (made / "inside").write_text("new")
    assert (tmp_path / "made-file").read_text() == "new"
    assert (tmp_path / "made-directory/inside").read_text() == "new"
    assert (tmp_path / "file").is_symlink()
    assert (tmp_path / "directory").is_symlink()


def test_a_descriptor_of_a_file_is_not_replaced(tmp_path: Path) -> None:
    """`-o /dev/stdout > file` gives such a path."""
    file = tmp_path / "file"
    with file.open("w") as stream:
        descriptor = Path(f"/dev/fd/{stream.fileno()}")
        (tmp_path / "link").symlink_to(descriptor)
        for path in (descriptor, tmp_path / "link"):
            with pytest.raises(BadInput, match=rf"--json {path}: leads to /proc/.*, which {BELOW}"):
                check_file("--json", path)
            with pytest.raises(BadInput, match=rf"{path}: leads to /proc/.*, which {BELOW}"):
                write_output(path, "new")
    assert file.read_text() == ""


@pytest.mark.parametrize("place", ["/dev/rclrt-test", "/proc/rclrt-test"])
def test_places_of_the_kernel_are_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(BadInput, match=f"{place}: {BELOW}"):
        check_file("-o", Path(place))
    with pytest.raises(BadInput, match=f"link: leads to {place}, which {BELOW}"):
        check_file("-o", tmp_path / "link")
    with pytest.raises(BadInput, match=BELOW), new_directory(Path(place)):
        pass
    assert not Path(place).exists()


def test_shared_memory_is_a_place_for_files() -> None:
    check_file("-o", Path("/dev/shm/rclrt-test"))


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadInput, match="leads through more than 40 links"):
        write_atomically(tmp_path / "loop", "new")


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a link to another user")
def test_a_link_of_another_user_in_a_shared_directory_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (tmp_path / "file").write_text("kept")
    (shared / "link").symlink_to(tmp_path / "file")
    write_atomically(shared / "link", "kept")
    os.lchown(shared / "link", 65534, 65534)
    with pytest.raises(BadInput, match="is a link that another user made in a directory that all"):
        write_atomically(shared / "link", "new")
    assert (tmp_path / "file").read_text() == "kept"
