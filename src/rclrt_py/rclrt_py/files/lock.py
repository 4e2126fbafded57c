# SPDX-License-Identifier: Apache-2.0
"""A lock that lets one rclrt command at a time write in a directory."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rclrt_py.errors import BadInput


@contextlib.contextmanager
def locked(directory: Path, name: str, option: str = "--out") -> Iterator[IO[str]]:
    """Locks a directory against other rclrt commands while the block runs, by a lock on the file
    `name` in it. Yields that file.

    The file is made if it is missing, and is opened to append. Throws BadInput with the name of the
    option if the file is a symbolic link, if it cannot be written or locked, or if another command
    holds the lock or has just removed the file.
    """
    with open_to_append(directory, name, option) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInput(
                f"{option} {directory}: another rclrt command is writing there; wait for it, or "
                "name another directory"
            ) from error
        except OSError as error:
            raise BadInput(
                f"{option} {directory}: {name} cannot be locked: {error.strerror}; name a "
                "directory on a local file system"
            ) from error
        if os.fstat(file.fileno()).st_nlink == 0:
            raise BadInput(
                f"{option} {directory}: another rclrt command has just removed its lock file; try "
                "again"
            )
        yield file


def open_to_append(directory: Path, name: str, option: str = "--out") -> IO[str]:
    """Opens the file `name` in a directory to read and append; makes the file if it is missing.

    Throws BadInput with the name of the option if the file cannot be written or is a symbolic link.
    A link is refused because another user may have made it, and rclrt must not change its target.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.fdopen(os.open(directory / name, flags, 0o666), "a+", encoding="utf-8")
    except OSError as error:
        if error.errno == errno.ELOOP and (directory / name).is_symlink():
            raise BadInput(
                f"{option} {directory}: {name} in it is a link, and rclrt writes a file of its "
                "own there; remove the link, or name another directory"
            ) from error
        raise BadInput(
            f"{option} {directory}: cannot be written: {error.strerror}; choose a directory you "
            "may write"
        ) from error
