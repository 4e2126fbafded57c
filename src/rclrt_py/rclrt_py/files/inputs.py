# SPDX-License-Identifier: Apache-2.0
"""Finds an output of a command that would replace one of its inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from rclrt_py.errors import BadInput

PAGE = ".html"
"""Suffix of pages. No command reads one, so a page in a directory of inputs may be replaced."""


def check_no_input(label: str, path: Path, inputs: Iterable[Path | None]) -> None:
    """Throws BadInput with `label` at the beginning if the file `path` is one of `inputs`, or is a
    file below a directory of these other than a page. Files are the same if their device and inode
    are: a link has another name. None: an option that was not given."""
    if not path.is_file():
        return
    for each in inputs:
        if each is None:
            continue
        if each.is_dir():
            if path.suffix.lower() != PAGE and any(_is_same(path, file) for file in _files(each)):
                raise BadInput(
                    f"{label}: would replace a file of {each}, which this command reads; name "
                    "another file"
                )
        elif _is_same(path, each):
            raise BadInput(
                f"{label}: would replace {each}, which this command reads; name another file"
            )


def _files(directory: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(directory):
        yield from (Path(parent) / name for name in names)


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # a file that is missing, or that was removed meanwhile
        return False
