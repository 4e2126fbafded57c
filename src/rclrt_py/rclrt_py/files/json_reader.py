# SPDX-License-Identifier: Apache-2.0
"""Reads JSON files that may be broken. Every error names the file and the place in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from rclrt_py.errors import BadInput

MAX_BYTES = 256 * 1024 * 1024
LARGEST = 1e15
LARGEST_WHOLE = 2**63 - 1
LARGEST_COUNT = 2**64 - 1


def read_text(path: Path) -> str:
    """Returns the text of the file. Throws BadInput, which names the file, if it cannot be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path}: larger than {MAX_BYTES >> 20} MiB; expected a results file")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8; expected UTF-8 text") from error
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error


class JsonValue:
    """One value in a JSON file, and its place."""

    def __init__(self, value: Any, file: Path, place: str = "") -> None:
        self.value = value
        self.file = file
        self.place = place

    @classmethod
    def load(cls, path: Path) -> JsonValue:
        return cls.parse(read_text(path), path)

    @classmethod
    def parse(cls, text: str, path: Path) -> JsonValue:
        """Parses a text. Errors name `path`."""
        try:
            value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
            return cls(value, path)
        except json.JSONDecodeError as error:
            raise BadInput(
                f"{path}:{error.lineno}:{error.colno}: {error.msg}; "
                "expected JSON as rclrt writes it"
            ) from error
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path}: {error}; expected JSON as rclrt writes it") from error

    def fail(self, expected: str) -> NoReturn:
        shown = json.dumps(self.value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        where = self.place or "the document"
        raise BadInput(f"{self.file}: {where} is {shown}; expected {expected}")

    def has(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def get(self, key: str) -> JsonValue:
        if not isinstance(self.value, dict):
            self.fail("an object")
        place = f"{self.place}.{key}" if self.place else key
        if key not in self.value:
            raise BadInput(f"{self.file}: {place} is missing")
        return JsonValue(self.value[key], self.file, place)

    def items(self) -> Iterator[JsonValue]:
        if not isinstance(self.value, list):
            self.fail("a list")
        for index, item in enumerate(self.value):
            yield JsonValue(item, self.file, f"{self.place}[{index}]")

    def object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.fail("an object")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.fail("text")
        return self.value

    def integer(self, largest: int = LARGEST_WHOLE) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.fail("a whole number")
        if not abs(self.value) <= largest:
            self.fail(f"a whole number of at most {largest}")
        return self.value

    def count(self) -> int:
        count = self.integer(LARGEST_COUNT)
        if count < 0:
            self.fail("a count, 0 or more")
        return count

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.fail("a number")
        if not abs(self.value) <= LARGEST:
            self.fail(f"a number of at most {LARGEST:g}")
        return self.value

    def number_or_none(self) -> float | None:
        """Returns the number. None: the value is null."""
        return None if self.value is None else self.number()

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def texts(self) -> list[str]:
        return [item.text() for item in self.items()]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {json.dumps(key)} occurs twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")
