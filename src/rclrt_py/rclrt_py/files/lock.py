# SPDX-License-Identifier: Apache-2.0
"""One rclrt command at a time writes in a directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rclrt_py.errors import BadInput


@contextlib.contextmanager
def locked(directory: Path, name: str, option: str = "--out") -> Iterator[IO[str]]:
    """Holds the directory while the block runs; yields the file in it that carries the lock.

    The file is made if it is missing, and opened to append. Throws BadInput, which names the
    option, if it cannot be written, or if another command holds it or has just removed it.
    """
    try:
        file = (directory / name).open("a+", encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"{option} {directory}: cannot be written: {error.strerror}; choose a directory you "
            "may write"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BadInput(
                f"{option} {directory}: another rclrt command is writing there; wait for it, or "
                "name another directory"
            ) from error
        if os.fstat(file.fileno()).st_nlink == 0:
            raise BadInput(
                f"{option} {directory}: another rclrt command has just taken it away; try again"
            )
        yield file
