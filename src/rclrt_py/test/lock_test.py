# SPDX-License-Identifier: Apache-2.0
"""Only one command at a time writes in a directory."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.files.lock import locked
from rclrt_py.testing.command import python_path

HOLDER = """
import sys
from pathlib import Path
from rclrt_py.files.lock import locked
with locked(Path(sys.argv[1]), "marker"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_command_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        env={"PYTHONPATH": python_path()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(BadInput, match="another rclrt command is writing there; wait for it"),
            locked(tmp_path, "marker"),
        ):
            pass
        holder.communicate()
    with locked(tmp_path, "marker") as file:
        file.write("free")
    assert (tmp_path / "marker").read_text() == "free"


def test_what_the_file_holds_stays_until_the_holder_changes_it(tmp_path: Path) -> None:
    (tmp_path / "marker").write_text("old")
    with locked(tmp_path, "marker") as file:
        assert (tmp_path / "marker").read_text() == "old"
        file.truncate(0)
    assert (tmp_path / "marker").read_text() == ""


def test_a_directory_that_cannot_be_written_is_named_with_its_option(tmp_path: Path) -> None:
    with (
        pytest.raises(BadInput, match=r"-o .*absent: cannot be written: No such file"),
        locked(tmp_path / "absent", "marker", "-o"),
    ):
        pass


def test_a_link_in_the_place_of_the_marker_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    for name, target in (("marker", "elsewhere"), ("dangling", "absent")):
        (tmp_path / name).symlink_to(target)
        with (
            pytest.raises(BadInput, match=rf"--out .*: {name} in it is a link"),
            locked(tmp_path, name) as file,
        ):
            file.truncate(0)
    assert (tmp_path / "elsewhere").read_text() == "kept"
    assert not (tmp_path / "absent").exists()


def test_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_file: object, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(BadInput, match="marker cannot be locked: No locks available; name a"),
        locked(tmp_path, "marker"),
    ):
        pass
