# SPDX-License-Identifier: Apache-2.0
"""The native modules, which may be missing if only reports are made, and the files for them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rclrt_py.errors import BadInput, RclrtError
from rclrt_py.files.json_reader import read_text

if TYPE_CHECKING:
    from rclrt_analysis import Judgement, Machine
    from rclrt_model import Application


def analysis() -> Any:
    """Returns the module rclrt_analysis."""
    return _load("rclrt_analysis")


def judge(
    application: Application,
    executor: str,
    machine: Machine,
    *,
    all_terms_of: int | None = None,
    with_queues: bool = False,
) -> Judgement:
    """Returns the bounds of the chains and their verdicts, as rclrt_analysis computes them. A
    bound with many terms states the longest ones and the sum of the others, but the chain with the
    index `all_terms_of` states all. `with_queues` adds the bounds of the queues. Throws BadInput if
    the priorities in the application are not possible under this executor."""
    try:
        judgement: Judgement = analysis().judge(
            application, executor, machine, all_terms_of=all_terms_of, with_queues=with_queues
        )
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
    """Returns the bytes of a file that a user names. If the file is larger than LARGEST, returns
    its first LARGEST + 1 bytes, which the parser then refuses."""
    with _opened(path) as stream:
        return stream.read(LARGEST + 1)


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields the number of each line of a file, from 1, and its bytes. The file may have any size;
    of each line at most LARGEST + 1 bytes are returned."""
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


def read_kind(path: Path, expected: str) -> str:
    """Returns the text of a file. Throws BadInput if it cannot be read, or if it is of another kind
    than `expected`, such as "counter_example": with both kinds and the command that takes it."""
    text = read_text(path)
    module = model()
    try:
        module.refuse_other_kind(text, path, expected)
    except module.ModelError as error:
        raise BadInput(str(error)) from error
    return text


def described_kind(path: Path) -> str:
    """Returns what the file is and which command takes it. Empty: that is not clear."""
    try:
        return model().described_kind(path) or ""
    except RclrtError:  # reports are also made without the native modules
        return ""
