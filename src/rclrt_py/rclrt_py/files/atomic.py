# SPDX-License-Identifier: Apache-2.0
"""The one writer of files and directories: each appears as a whole, or not at all.

It is made beside its place under a name that nobody can foresee, and renamed when complete.
"""

from __future__ import annotations

import contextlib
import os
import shutil
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


@contextlib.contextmanager
def new_directory(path: Path, option: str = "-o") -> Iterator[Path]:
    """A directory to fill that becomes `path` when the block ends without an exception, and is
    removed otherwise, with the parents that were made for it.

    Throws BadInput, which names the option, if something is at `path` already or if it cannot be
    written.
    """
    path = path.absolute()
    if path.is_dir() and any(path.iterdir()):
        raise BadInput(f"{option} {path}: is not empty; name a new directory, or empty this one")
    if path.exists() and not path.is_dir():
        raise BadInput(f"{option} {path}: is a file; name a new directory")
    made = Path()
    new_parents = [parent for parent in path.parents if not parent.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        yield made
        made.chmod(0o777 & ~_umask())
        made.rename(path)
    except OSError as error:
        raise BadInput(
            f"{option} {path}: cannot be written: {error.strerror or error}; choose a directory "
            "you may write, with room"
        ) from error
    finally:
        if made != Path():
            shutil.rmtree(made, ignore_errors=True)
        for parent in new_parents:
            with contextlib.suppress(OSError):  # not empty when all went well
                parent.rmdir()


def move_into_place(made: Path, place: Path) -> None:
    """Renames a complete file or directory to its place on the same file system.

    A file there is replaced. The directory of the place is made if it is missing.
    """
    place.parent.mkdir(exist_ok=True)
    os.replace(made, place)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
