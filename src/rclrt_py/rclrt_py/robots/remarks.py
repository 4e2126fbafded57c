# SPDX-License-Identifier: Apache-2.0
"""Problems and remarks with their places in a file that a user wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from rclrt_py.errors import BadInput
from rclrt_py.plan.yaml_text import Span, YamlText
from rclrt_py.text import shorten

SHOWN = 60
MOST_PROBLEMS = 20


@dataclass(frozen=True)
class Remark:
    """One sentence about a place in the file. `lost`: a setting is not carried over."""

    line: int
    column: int
    text: str
    lost: bool

    def located(self, file: str) -> str:
        kind = "not carried over" if self.lost else "note"
        return f"{file}:{self.line}:{self.column}: {kind}: {self.text}"


@dataclass
class Remarks:
    """Collects what there is to say about a file. Problems make the file unusable."""

    source: YamlText
    remarks: list[Remark] = field(default_factory=list)
    _problems: list[tuple[int, int, str]] = field(default_factory=list)

    def problem(self, at: Span, found: str, expected: str) -> None:
        line, column = self._place(at)
        self._problems.append((line, column, f"{found}; expected {expected}"))

    def wrong_value(self, at: Span, what: str, expected: str) -> None:
        self.problem(at, f"{what} is {self.shown(at)}", expected)

    def lost(self, at: Span, text: str) -> None:
        self.remarks.append(Remark(*self._place(at), text, lost=True))

    def note(self, at: Span, text: str) -> None:
        self.remarks.append(Remark(*self._place(at), text, lost=False))

    def line(self, at: Span) -> int:
        return self._place(at)[0]

    @property
    def has_problems(self) -> bool:
        return bool(self._problems)

    def raise_problems(self) -> NoReturn:
        """Throws BadInput with the first problems, in the order of the file."""
        found = sorted(self._problems)
        lines = [f"{self.source.name}:{line}:{col}: {text}" for line, col, text in found]
        if len(lines) > MOST_PROBLEMS:
            lines[MOST_PROBLEMS:] = [f"... and {len(lines) - MOST_PROBLEMS} more"]
        raise BadInput("\n".join(lines))

    @staticmethod
    def shown(at: Span) -> str:
        if at.is_list or at.is_mapping:
            return "a list" if at.is_list else "a mapping"
        return f"'{shorten(at.text, SHOWN)}'"

    def _place(self, at: Span) -> tuple[int, int]:
        begin = self.source.line_start(at.start)
        return self.source.text.count("\n", 0, begin) + 1, at.start - begin + 1
