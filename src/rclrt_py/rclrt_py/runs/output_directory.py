# SPDX-License-Identifier: Apache-2.0
"""The directory of --out: always one that rclrt made, and never half-written."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from rclrt_py.errors import BadInput
from rclrt_py.executors import EXECUTORS, executor_of, kind_name
from rclrt_py.files.atomic import move_into_place, unfinished
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.files.lock import locked
from rclrt_py.runs.run_data import RESULTS, RUN_FILES

MARKER = ".rclrt"
STAGING = ".partial"
REPORT = "report.html"
APPLICATION = "application.json"
BOUNDS = "bounds.json"


@dataclass(frozen=True)
class Plan:
    """The executors, rounds and seconds that a command was asked to run. A marker file in the
    output directory keeps them, so that a comparison that was killed can still be reported."""

    kind: str
    executors: tuple[str, ...]
    rounds: int
    seconds: float

    @classmethod
    def load(cls, directory: Path) -> Plan | None:
        """Loads the plan from the directory's marker. None: there is no marker."""
        if not (directory / MARKER).is_file():
            return None
        marker = JsonValue.load(directory / MARKER)
        return cls(
            kind=marker.get("kind").text(),
            executors=tuple(marker.get("executors").texts()),
            rounds=marker.get("rounds").count(),
            seconds=marker.get("seconds").number(),
        )


@contextlib.contextmanager
def claimed(path: Path, plan: Plan, inputs: Iterable[Path | None] = ()) -> Iterator[Path]:
    """Prepares the output directory `path` of a command: removes earlier results of rclrt, and
    locks it against other rclrt commands while the block runs. Throws BadInput if one of `inputs`
    is among these results (None: an option that was not given). If the block wrote no results,
    everything that was made here is removed again. A run that could not be moved to its place,
    because the disk is full, stays where it was made: `rclrt report` reads it there."""
    _check_inputs_stay(path, inputs)
    made = _make(path)
    try:
        with _locked_marker(path) as marker:
            _remove_earlier(path)
            json.dump(asdict(plan), marker)
            marker.flush()
            keeps = False
            try:
                yield path
            except Exception as error:
                keeps = isinstance(error, OSError) or isinstance(error.__cause__, OSError)
                keeps = (
                    keeps and plan.kind == "run" and (path / STAGING / "run" / RESULTS).is_file()
                )
                raise
            finally:
                if not keeps:
                    shutil.rmtree(path / STAGING, ignore_errors=True)
                before_any_run = (MARKER, APPLICATION, BOUNDS)
                if not any(item.name not in before_any_run for item in path.iterdir()):
                    for name in before_any_run:
                        (path / name).unlink(missing_ok=True)
    finally:
        for directory in reversed(made):
            with contextlib.suppress(OSError):
                directory.rmdir()


def move_up(made: Path, directory: Path) -> None:
    """Moves the files of the run in `made` into the output directory. results.json comes last: a
    directory with this file is complete."""
    for name in sorted(RUN_FILES, key=lambda name: name == RESULTS):
        if (made / name).is_file():
            move_into_place(made / name, directory / name)


def _check_inputs_stay(path: Path, inputs: Iterable[Path | None]) -> None:
    """Throws BadInput if an input is one of the files that _remove_earlier() removes."""
    place = path.resolve()
    for each in inputs:
        if each is None or not each.resolve().is_relative_to(place):
            continue
        first, *below = each.resolve().relative_to(place).parts or ("",)
        is_executors = bool(below) and kind_name(executor_of(first)) in EXECUTORS
        if is_executors or first in (*RUN_FILES, REPORT, APPLICATION, BOUNDS, STAGING):
            raise BadInput(
                f"--out {path}: would replace {each}, which this command reads; name another "
                "directory"
            )


def _make(path: Path) -> list[Path]:
    """Makes the missing directories, and returns them with the outermost first."""
    made: list[Path] = []
    try:
        for directory in [*reversed(path.parents), path]:
            if not directory.is_dir():
                directory.mkdir()
                made.append(directory)
    except OSError as error:
        for directory in reversed(made):
            directory.rmdir()
        if isinstance(error, FileExistsError) and path.exists():
            raise BadInput(f"--out {path}: is a file; expected a directory") from error
        raise BadInput(
            f"--out {path}: cannot be made: {error.strerror}; choose a directory you may write"
        ) from error
    return made


@contextlib.contextmanager
def _locked_marker(path: Path) -> Iterator[IO[str]]:
    if any(path.iterdir()) and not (path / MARKER).is_file():
        raise BadInput(
            f"--out {path}: is not empty and was not written by rclrt; "
            "name a new directory, or empty this one"
        )
    with locked(path, MARKER) as marker:
        marker.truncate(0)
        yield marker


def _remove_earlier(path: Path) -> None:
    """Removes what an earlier rclrt command wrote, killed or not; files of the user stay."""
    shutil.rmtree(path / STAGING, ignore_errors=True)
    for name in (*RUN_FILES, REPORT, APPLICATION, BOUNDS):
        (path / name).unlink(missing_ok=True)
        for left in unfinished(path / name):
            left.unlink(missing_ok=True)
    for executor in path.iterdir():
        if kind_name(executor_of(executor.name)) not in EXECUTORS:
            continue
        for directory in executor.glob("round-*"):
            shutil.rmtree(directory, ignore_errors=True)
        with contextlib.suppress(OSError):
            executor.rmdir()
