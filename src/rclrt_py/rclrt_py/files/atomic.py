# SPDX-License-Identifier: Apache-2.0
"""The only functions that write files and directories of results: each file or directory appears
complete, or not at all.

A new file or directory is written beside its place under an unpredictable name, and renamed when it
is complete. An empty directory that exists already is kept, and the new entries are moved into it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from rclrt_py.errors import BadInput
from rclrt_py.files.inputs import check_no_input
from rclrt_py.files.place import resolve_place

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FIX = "; choose a directory you may write, with room"
MAX_NAME_BYTES = 200
"""Number of bytes of a name that its temporary name repeats. Linux allows 255 bytes."""


def check_file(option: str, path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Rejects a path that cannot be written, or that is one of the command's inputs, before the
    command spends minutes on its content. A file of an input directory is an input, too. None: an
    option that was not given."""
    label = f"{option} {path}"
    try:
        if path.is_dir():
            raise BadInput(f"{label}: is a directory; expected the name of a file")
        if path.exists() and not path.is_file():
            raise BadInput(
                f"{label}: is a device or a pipe, which a file would replace; expected the "
                "name of a regular file"
            )
        check_no_input(label, path, inputs)
        place = resolve_place(path, label)
        if not place.parent.is_dir():
            parent = place.parent if path.is_symlink() else path.parent
            raise BadInput(f"{label}: {parent} is no directory; make it first")
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except OSError as error:
        raise BadInput(
            f"{label}: cannot be written: {error.strerror}; choose a directory you may write"
        ) from error


def check_new_directory(path: Path, option: str = "-o") -> None:
    """Rejects what new_directory() rejects, before a command spends minutes on its content."""
    label = f"{option} {path.absolute()}"
    with _os_errors_named(label, FIX):
        place = resolve_place(path, label)
        _check_empty(place, label)
        existing = next(each for each in (place, *place.parents) if each.exists())
        with tempfile.TemporaryFile(dir=existing):
            pass


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes the file. It has the old content or the new one, never a part of it."""
    with replacing(path) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


def write_new(path: Path, content: str) -> None:
    """Writes a file that does not exist, complete or not at all. Throws BadInput with the path if
    there is a file or a link already, or if it cannot be written."""
    with _os_errors_named(path):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        except FileExistsError as error:
            raise BadInput(f"{path}: exists already, and is not overwritten") from error
    try:
        write_atomically(path, content)  # replaces the empty file, which kept the place
    except BaseException:
        path.unlink(missing_ok=True)
        raise


STANDARD_OUTPUT = Path("-")


def check_output(option: str, path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Rejects what write_output() cannot write, and a file that check_file() rejects, before a
    command spends minutes on the content."""
    if path != STANDARD_OUTPUT and (path.is_file() or path.is_dir() or not path.exists()):
        check_file(option, path, inputs)


def write_output(path: Path, content: str) -> None:
    """Writes the file of `-o FILE`, complete or not at all; `-` is the standard output. Throws
    BadInput with the path if it cannot be written; a pipe without a reader is a BrokenPipeError."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(content)
    elif path.is_file() or path.is_dir() or not path.exists():
        write_atomically(path, content)
    else:  # a device or a pipe: not to be replaced
        try:
            with path.open("w", encoding="utf-8") as stream:
                stream.write(content)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritable(path, error, "") from error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yields a stream for the new content of the file `path`. If the block ends without an error,
    the content replaces the file; otherwise the file stays unchanged.

    If `path` is a symbolic link, the link stays and its target is replaced. The new file gets the
    permissions of the replaced one, and is on the disk before it is renamed. Throws BadInput with
    the path if the file cannot be written. Errors of the block pass through.
    """
    with _os_errors_named(path):
        place = resolve_place(path, str(path))
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=_prefix(place))
    try:
        with io.BufferedWriter(_File(descriptor, path)) as stream:
            yield stream
            stream.flush()
            with _os_errors_named(path):
                os.fchmod(descriptor, _permissions(place))
                os.fsync(descriptor)
        with _os_errors_named(path):
            os.replace(name, place)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def unfinished(place: Path) -> list[Path]:
    """Returns the files that killed writers of `place` left beside it."""
    temporary = re.compile(re.escape(_prefix(place)) + "[a-z0-9_]{8}")
    return [
        each for each in place.parent.iterdir()
        if temporary.fullmatch(each.name) and not each.is_dir()
    ]  # fmt: skip


@contextlib.contextmanager
def new_directory(path: Path, option: str = "-o") -> Iterator[Path]:
    """Yields a new directory for the block to fill. If the block ends without an exception, it
    becomes the directory `path`; otherwise it is removed, together with the parent directories that
    were made for it.

    If `path` is an empty directory, or a link to one, that directory stays, and the new entries are
    moved into it one after the other. (It may be a mount point, or the working directory of a
    shell.)

    Throws BadInput with the name of the option if `path` exists and is no empty directory, if it
    cannot be written, or if the disk is full during the block. Other errors of the block pass
    through.
    """
    label = f"{option} {path.absolute()}"
    with _os_errors_named(label, FIX):
        place = resolve_place(path, label)
        exists = place.is_dir()
        _check_empty(place, label)
    new_parents = [parent for parent in place.parents if not parent.exists()]
    made = None
    try:
        with _os_errors_named(label, FIX):
            place.parent.mkdir(parents=True, exist_ok=True)
            made = Path(
                tempfile.mkdtemp(dir=place if exists else place.parent, prefix=_prefix(place))
            )
        try:
            yield made
        except OSError as error:
            if error.errno in NO_ROOM:
                raise _unwritable(label, error, FIX) from error
            raise
        with _os_errors_named(label, FIX):
            if exists:
                _check_empty(place, label, but=made)
                _move_entries(made, place)
            else:
                made.chmod(0o777 & ~_umask())
                made.rename(place)
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        for parent in new_parents:
            with contextlib.suppress(OSError):  # not empty when all went well
                parent.rmdir()


def move_into_place(made: Path, place: Path) -> None:
    """Renames the complete file or directory `made` to `place`, which must be on the same file
    system. Replaces a file at `place`, and makes the parent directory of `place` if it is
    missing."""
    place.parent.mkdir(exist_ok=True)
    os.replace(made, place)


class _File(io.FileIO):
    """A file that names `path` in the error of a failed write."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "w")
        self._path = path

    def write(self, data: Any) -> int:
        with _os_errors_named(self._path):
            return super().write(data)


@contextlib.contextmanager
def _os_errors_named(label: Path | str, fix: str = "") -> Iterator[None]:
    """Turns an OSError into a BadInput. Use it around our own system calls only."""
    try:
        yield
    except OSError as error:
        raise _unwritable(label, error, fix) from error


def _unwritable(label: Path | str, error: OSError, fix: str) -> BadInput:
    return BadInput(f"{label}: cannot be written: {error.strerror or error}{fix}")


def _check_empty(place: Path, label: str, but: Path | None = None) -> None:
    if place.exists() and not place.is_dir():
        raise BadInput(f"{label}: is a file; name a new directory")
    if place.is_dir() and any(each != but for each in place.iterdir()):
        raise BadInput(f"{label}: is not empty; name a new directory, or empty this one")


def _move_entries(made: Path, place: Path) -> None:
    """Moves all entries, or none."""
    moved: list[Path] = []
    try:
        for entry in sorted(made.iterdir()):
            moved.append(entry.rename(place / entry.name))
    except BaseException:
        for each in moved:
            each.rename(made / each.name)
        raise


def _prefix(place: Path) -> str:
    """Returns the prefix of a temporary name, to which tempfile adds 8 characters."""
    return f".{os.fsencode(place.name)[:MAX_NAME_BYTES].decode(errors='ignore')}."


def _permissions(place: Path) -> int:
    """Returns the permissions of the replaced file, or the default permissions under the umask."""
    try:
        return place.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
