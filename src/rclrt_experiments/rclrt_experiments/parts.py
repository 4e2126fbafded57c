# SPDX-License-Identifier: Apache-2.0
"""The parts of a page about experiments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


def file_name(*parts: str) -> str:
    """Returns a name for a file of these texts, which may come from a file of the user."""
    return "_".join(re.findall(r"[A-Za-z0-9.-]+", " ".join(parts)))


@dataclass(frozen=True)
class Figure:
    """A picture and the name of its file without the suffix."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Table:
    """A table of texts. The first column has the names of the rows."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


Part = Figure | Table
