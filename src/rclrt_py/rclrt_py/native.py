# SPDX-License-Identifier: Apache-2.0
"""The native modules, which may be missing if only reports are made, and the files for them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rclrt_py.errors import BadInput, RclrtError

if TYPE_CHECKING:
    from rclrt_analysis import Judgement, Machine
    from rclrt_model import Application


def analysis() -> Any:
    """Returns the module rclrt_analysis."""
    return _load("rclrt_analysis")


def judge(application: Application, executor: str, machine: Machine) -> Judgement:
    """Returns the verdict of rclrt_analysis.

    Throws BadInput if the executor cannot have the stated priorities.
    """
    try:
        judgement: Judgement = analysis().judge(application, executor, machine)
    except ValueError as error:
        raise BadInput(f"{application.name}: {error}") from None
    return judgement


def model() -> Any:
    """Returns the module rclrt_model."""
    return _load("rclrt_model")


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RclrtError(
            f"{name} cannot be loaded ({error})\n  fix: make build PACKAGES={name}"
        ) from error


LARGEST = 16 * 1024 * 1024
"""The parsers refuse larger files."""


def read_input(path: Path) -> bytes:
    """Returns the bytes of a user's file. A file above LARGEST is cut one byte later: it is
    refused."""
    with _opened(path) as stream:
        return stream.read(LARGEST + 1)


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields the lines of a file of any size, with their numbers. A line that is too long is
    cut."""
    with _opened(path) as stream:
        number = 0
        while line := stream.readline(LARGEST + 1):
            number += 1
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = stream.readline(LARGEST)
            yield number, line


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as stream:
            yield stream
    except IsADirectoryError as error:
        raise BadInput(f"{path}: is a directory; expected a file") from error
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; expected a readable file") from error


def load_application(path: Path, priorities: Path | None = None) -> Application:
    """Loads an app.yaml with rclrt_model, with the priorities of a second file if it is given."""
    module = model()
    try:
        application: Application = module.load(path, priorities)
    except module.ModelError as error:
        raise BadInput(str(error)) from error
    return application
