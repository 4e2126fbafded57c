# SPDX-License-Identifier: Apache-2.0
"""Finds the place that a path leads to, before a file is written there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rclrt_py.errors import BadInput

MAX_LINKS = 40
"""Maximum number of links, as in Linux (path_resolution(7))."""
KERNEL = (Path("/dev"), Path("/proc"))
SHARED_MEMORY = Path("/dev/shm")


def resolve_place(path: Path, label: str) -> Path:
    """Returns the absolute path that will be written for `path`: symbolic links are followed,
    because the links stay and their targets are replaced.

    Throws BadInput with `label` at the beginning in these cases: a link on the way, or the result,
    is below /dev or /proc; a link was made by another user in a directory that all may write (the
    rule of protected_symlinks in proc(5)); there are more than MAX_LINKS links. Throws OSError if
    the path cannot be examined.
    """
    place = path
    for _ in range(MAX_LINKS + 1):
        place = _without_links_above(place)
        if _is_kernels(place):
            where = "" if place == path else f"leads to {place}, which "
            raise BadInput(
                f"{label}: {where}is below /dev or /proc, where no file or directory can be made; "
                "name a place elsewhere"
            )
        if not place.is_symlink():
            return place
        _check_owner(place, label)
        place = place.parent / place.readlink()
    raise BadInput(f"{label}: leads through more than {MAX_LINKS} links; name the place itself")


def _without_links_above(path: Path) -> Path:
    if path.name in ("", ".."):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent)) / path.name


def _is_kernels(place: Path) -> bool:
    if place.is_relative_to(SHARED_MEMORY):
        return False
    return any(place.is_relative_to(each) for each in KERNEL)


def _check_owner(link: Path, label: str) -> None:
    directory = link.parent.stat()
    all_may_write = stat.S_ISVTX | stat.S_IWOTH
    owner = link.lstat().st_uid
    if (
        directory.st_mode & all_may_write == all_may_write
        and owner not in (os.geteuid(), directory.st_uid)
    ):  # fmt: skip
        raise BadInput(
            f"{label}: {link} is a link that another user made in a directory that all may write; "
            "remove it, or name another place"
        )
