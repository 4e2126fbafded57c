# SPDX-License-Identifier: Apache-2.0
"""Traces that are damaged, cut off or missing give an error with its place, or a result."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from traced_runs import Traced, rclrt


def model_of(trace: Path, into: Path) -> tuple[int, str]:
    """Returns the exit code and stderr. Checks that the file exists exactly if it succeeded."""
    done = rclrt("model", trace, "-o", into / "robot.yaml")
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2), done.stderr
    assert (into / "robot.yaml").is_file() == (done.returncode == 0)
    (into / "robot.yaml").unlink(missing_ok=True)
    return done.returncode, done.stderr


ONE = pytest.mark.parametrize("traced", ["two_processes"], indirect=True)


@pytest.fixture
def copy(traced: Traced, tmp_path: Path) -> Path:
    shutil.copytree(traced.trace, tmp_path / "copy")
    return tmp_path / "copy"


def streams(trace: Path) -> list[Path]:
    own = [path for path in trace.rglob("ros_*") if path.suffix != ".idx"]
    return sorted([*own, *trace.glob("scheduling/cpu_*")])


@ONE
def test_a_stream_that_is_cut_off(copy: Path, tmp_path: Path) -> None:
    path = max(streams(copy / "running"), key=lambda path: path.stat().st_size)
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size - 4096 - 100)  # packets end with less than a page
    code, said = model_of(copy, tmp_path)
    assert code == 0
    assert f"{path}: packet at byte " in said
    assert "the file is cut off in it" in said


@ONE
def test_metadata_that_is_cut_off_or_gone(copy: Path, tmp_path: Path) -> None:
    for path in copy.rglob("metadata"):
        with path.open("r+b") as stream:
            stream.truncate(path.stat().st_size // 2)
    code, said = model_of(copy, tmp_path)
    assert code == 2
    assert str(copy) in said
    for path in copy.rglob("metadata"):
        path.unlink()
    code, said = model_of(copy, tmp_path)
    assert code == 2
    assert 'has no file "metadata", but ' in said


@ONE
def test_random_damage(copy: Path, tmp_path: Path) -> None:
    draw = random.Random(4)
    whole = {path: path.read_bytes() for path in [*streams(copy), *copy.rglob("metadata")]}
    codes = set()
    for _ in range(40):
        path = draw.choice(sorted(whole))
        content = bytearray(whole[path])
        for _ in range(draw.choice((1, 10, 200)) if content else 0):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        codes.add(model_of(copy, tmp_path)[0])
        path.write_bytes(whole[path])
    assert codes <= {0, 2}
    assert model_of(copy, tmp_path)[0] == 0


@ONE
def test_without_the_events_of_creation_it_says_what_is_missing(copy: Path, tmp_path: Path) -> None:
    shutil.rmtree(copy / "creation")
    code, said = model_of(copy, tmp_path)
    assert code == 2
    assert "start the session before the nodes" in said


@ONE
def test_without_the_events_of_running_it_says_what_is_missing(copy: Path, tmp_path: Path) -> None:
    shutil.rmtree(copy / "running")
    code, said = model_of(copy, tmp_path)
    assert code == 2
    assert "no run of a callback" in said


def test_what_is_no_trace(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "metadata").write_bytes(bytes(range(256)) * 8)
    assert model_of(foreign, tmp_path)[0] == 2
    (foreign / "metadata").write_text("")
    assert model_of(foreign, tmp_path)[0] == 2
    code, said = model_of(tmp_path / "nowhere", tmp_path)
    assert code == 2
    assert "no such directory" in said
    (tmp_path / "file").write_text("text")
    code, said = model_of(tmp_path / "file", tmp_path)
    assert code == 2
    assert "is not a directory" in said


def test_a_directory_that_is_not_empty_is_not_recorded_into(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("text")
    done = rclrt("trace", "record", "-o", tmp_path, "--seconds", "1")
    assert done.returncode == 2
    assert "expected a new or empty directory" in done.stderr
    done = rclrt("trace", "record", "-o", tmp_path / "new", "--most-mb", "1")
    assert done.returncode == 2
    assert not (tmp_path / "new").exists()
    done = rclrt("trace", "record", "-o", tmp_path / "new", "--", "no_such_program")
    assert done.returncode == 2
    assert "no_such_program" in done.stderr
    assert not (tmp_path / "new").exists()


@ONE
def test_a_directory_of_others_gets_no_results(traced: Traced, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("text")
    done = rclrt("trace", "import", traced.trace, "--out", tmp_path)
    assert done.returncode == 2
    assert f"--out {tmp_path}: " in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_of_the_trace_is_not_replaced(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.mkdir()
    (trace / "metadata").write_text("kept")
    for file, place in ((trace / "metadata", f"a file of {trace}"), (tmp_path / "clock", "")):
        file.write_text("kept")
        done = rclrt("model", trace, "--clock", tmp_path / "clock", "-o", file)
        assert done.returncode == 2
        assert f"-o {file}: would replace {place or file}, which" in done.stderr
        assert file.read_text() == "kept"
