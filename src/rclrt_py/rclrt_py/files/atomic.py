# SPDX-License-Identifier: Apache-2.0
"""Writes files so that each has its old content or its new one, never a part."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rclrt_py.errors import BadInput


def check_file(option: str, path: Path) -> None:
    """Refuses before minutes are spent what could not be written after them."""
    try:
        if path.is_dir():
            raise BadInput(f"{option} {path}: is a directory; expected the name of a file")
        if path.exists() and not path.is_file():
            raise BadInput(
                f"{option} {path}: is a device or a pipe, which would be replaced; expected the "
                "name of a file"
            )
        if not path.parent.is_dir():
            raise BadInput(f"{option} {path}: {path.parent} is no directory; make it first")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BadInput(
            f"{option} {path}: cannot be written: {error.strerror}; choose a directory you may "
            "write"
        ) from error


def write_atomically(path: Path, content: str | bytes) -> None:
    """The file has the old content or the new one, never a part of it."""
    with replacing(path) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


STANDARD_OUTPUT = Path("-")


def write_output(path: Path, content: str) -> None:
    """What `-o FILE` asks for: the whole file or nothing; `-` is the standard output."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(content)
    elif path.is_file() or path.is_dir() or not path.exists():
        write_atomically(path, content)
    else:  # a device or a pipe: not to be replaced
        with path.open("w", encoding="utf-8") as stream:
            stream.write(content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content becomes the file at `path` when the block ends without an error."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            os.fchmod(stream.fileno(), 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
