# SPDX-License-Identifier: Apache-2.0
"""Changes single values of a YAML text. Everything else keeps its bytes: comments, order, blanks.
New lines end as the lines before them.

A path names a value from the top: keys of mappings; in a list, the `id` or `name` of an item. So
("callbacks", "scan", "timer", "period_ms") is the period of the callback `scan`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclrt_py.errors import BadInput
from rclrt_py.native import model

Value = str | int | float | bool | list[Any] | dict[str, Any]
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_/]*")
KEY = re.compile(r"[a-z_]+")
WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
"""Words that a reader of YAML may take for something other than a text."""


Found = tuple[str, int, int, Any]
"""A value as yaml_spans() of rclrt_model returns it."""


class Span:
    """A value of the text with its place, in characters. Its parts are wrapped when they are asked
    for: a change needs few of the thousands of a large file."""

    def __init__(self, found: Found) -> None:
        self.kind, self.start, self.end, self._content = found

    @property
    def is_mapping(self) -> bool:
        return self.kind.endswith("mapping")

    @property
    def is_list(self) -> bool:
        return self.kind.endswith("list")

    @property
    def is_flow(self) -> bool:
        return self.kind.startswith("flow")

    @property
    def items(self) -> list[Span]:
        """The values of a list."""
        return [Span(each) for each in self._content]

    @property
    def pairs(self) -> list[tuple[Span, Span]]:
        """The keys of a mapping with their values."""
        return [(Span(key), Span(value)) for key, value in self._content]

    @property
    def text(self) -> str:
        """The text of a scalar."""
        text: str = self._content
        return text

    @property
    def last(self) -> Span:
        """The last value in it that has no parts, or that is in brackets."""
        if self.is_flow or not (self.is_list or self.is_mapping) or not self._content:
            return self
        child = self._content[-1]
        return Span(child[1] if self.is_mapping else child).last

    def find(self, key: str) -> Span | None:
        """Returns the value of a key, or the item of a list with this id or name."""
        if self.is_mapping:
            found = _value(self._content, key)
            return None if found is None else Span(found)
        if self.is_list:
            for item in self._content:
                if item[0].endswith("mapping") and _name(item[3]) == key:
                    return Span(item)
        return None

    def value(self) -> Any:
        """Returns the content as Python objects; scalars are texts."""
        return _plain((self.kind, self.start, self.end, self._content))


def _plain(found: Found) -> Any:
    kind, _, _, content = found
    if kind.endswith("mapping"):
        return {key[3]: _plain(value) for key, value in content}
    return [_plain(item) for item in content] if kind.endswith("list") else content


def _value(pairs: list[tuple[Found, Found]], key: str) -> Found | None:
    return next((value for name, value in pairs if name[3] == key), None)


def _name(pairs: list[tuple[Found, Found]]) -> Any:
    """Returns the `id` or else the `name` in a mapping."""
    named = _value(pairs, "id") or _value(pairs, "name")
    return None if named is None else named[3]


@dataclass(frozen=True)
class Splice:
    """New text for the characters from `start` to `end`. A negative `start`: nothing to do."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Edit:
    """One change of a text, and the same change of its content as Python objects: so a splice in a
    wrong place is found before anything is analysed or written."""

    splice: Callable[[YamlText], Splice]
    apply: Callable[[Any], None]


class YamlText:
    """A YAML text and the places of its values; it does not change. `name` is the
    file's name in errors. Throws ModelError of rclrt_model if the text is not strict YAML."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.root = Span(model().yaml_spans(text, name))

    def find(self, path: Sequence[str]) -> Span | None:
        """Returns the value at the path. None: the text has none."""
        place: Span | None = self.root
        for key in path:
            if place is None:
                return None
            place = place.find(key)
        return place

    def get(self, path: Sequence[str]) -> Any:
        """Returns the value at the path as Python objects; scalars are texts. None: none."""
        found = self.find(path)
        return None if found is None else found.value()

    def names(self, path: Sequence[str]) -> list[str]:
        """Returns the ids or names of the items of the list at the path."""
        found = self.find(path)
        items = found.items if found is not None and found.is_list else []
        named = ((item.find("id") or item.find("name")) for item in items)
        return [each.text for each in named if each is not None]

    def edited(self, edits: Sequence[Edit]) -> YamlText:
        """Returns the text after all the edits, one after the other. Throws BadInput if an edit is
        not possible in this text."""
        text, pending, wanted = self, list[Splice](), self.root.value()
        for edit in edits:
            splice = edit.splice(text)
            if splice.start < 0:
                continue
            if any(splice.start <= other.end and other.start <= splice.end for other in pending):
                # Two edits at one place: the second one needs the result of the first.
                text, pending = text._spliced(pending), []
                splice = edit.splice(text)
            pending.append(splice)
            edit.apply(wanted)
        text = text._spliced(pending)
        if text.root.value() != wanted:
            raise BadInput(
                f"{self.name}: this change cannot be made without a change of something else, "
                "because of how the file is written there; make it in the file"
            )
        return text

    def _spliced(self, splices: Sequence[Splice]) -> YamlText:
        text = self.text
        for splice in sorted(splices, key=lambda each: each.start, reverse=True):
            text = text[: splice.start] + splice.text + text[splice.end :]
        return self if text == self.text else YamlText(text, self.name)

    def last(self, span: Span) -> int:
        """Returns the end of the last character of a value. (libyaml ends a block text at the start
        of the line behind it.)"""
        end = span.last.end
        while end > span.start and self.text[end - 1].isspace():
            end -= 1
        return end

    def parent(self, path: Sequence[str]) -> Span:
        parent = self.find(path[:-1])
        if parent is None or not parent.is_mapping:
            raise BadInput(f"{self.name}: has no '{'.'.join(path[:-1])}' to write into")
        return parent

    def key_splice(self, parent: Span, key: str, value: str) -> Splice:
        entry = f"{key}: {value}"
        if not parent.pairs:
            return Splice(parent.end - 1, parent.end - 1, entry)
        last = self.last(parent.pairs[-1][1])
        if parent.is_flow:
            return Splice(last, last, f", {entry}")
        first = parent.pairs[0][0].start
        indent = " " * (first - self.line_start(first))
        at = self.line_end(last)
        return Splice(at, at, f"{self.line_break(at)}{indent}{entry}")

    def cut_flow(self, parent: Span, index: int) -> tuple[int, int]:
        key, value = parent.pairs[index]
        if index > 0:
            before = self.last(parent.pairs[index - 1][1])
            if "#" not in self.text[before : key.start]:
                return before, self.last(value)
        if index + 1 < len(parent.pairs):
            after = parent.pairs[index + 1][0].start
            if "#" not in self.text[self.last(value) : after]:
                return key.start, after
        comma = re.compile(r"\s*,").match(self.text, self.last(value))
        return key.start, comma.end() if comma else self.last(value)

    def cut_block(self, parent: Span, index: int) -> tuple[int, int]:
        key, value = parent.pairs[index]
        begin = self.line_start(key.start)
        if self.text[begin : key.start].strip():  # the first key of an item of a list
            if index + 1 == len(parent.pairs):
                raise BadInput(f"{self.name}: '{key.text}' is the only key of its item")
            return key.start, parent.pairs[index + 1][0].start
        return begin, self.next_line(self.last(value))

    def line_start(self, place: int) -> int:
        return self.text.rfind("\n", 0, place) + 1

    def line_end(self, place: int) -> int:
        """Returns the place behind the last character of a line, before its line break."""
        end = self.text.find("\n", place)
        if end < 0:
            return len(self.text)
        return end - 1 if end > place and self.text[end - 1] == "\r" else end

    def next_line(self, place: int) -> int:
        end = self.text.find("\n", place)
        return len(self.text) if end < 0 else end + 1

    def line_break(self, place: int) -> str:
        """Returns the line break of the line that ends at `place`. The last line, which has none,
        gets that of the first one."""
        at = place if place < len(self.text) else self.line_end(0)
        return "\r\n" if self.text.startswith("\r\n", at) else "\n"


def put(path: Sequence[str], value: Value) -> Edit:
    """Writes a value in place of the one at the path, or adds it to its mapping. Throws BadInput if
    the text has no such mapping."""

    def splice(text: YamlText) -> Splice:
        found = text.find(path)
        if found is not None:
            return Splice(found.start, text.last(found), to_yaml(value))
        if not KEY.fullmatch(path[-1]):
            raise BadInput(f"{text.name}: '{path[-1]}' is no key")
        return text.key_splice(text.parent(path), path[-1], to_yaml(value))

    def apply(document: Any) -> None:
        _part(document, path[:-1])[path[-1]] = _as_read(value)

    return Edit(splice, apply)


def remove(path: Sequence[str]) -> Edit:
    """Removes a key with its value. Does nothing if the text has none."""

    def splice(text: YamlText) -> Splice:
        if text.find(path) is None:
            return Splice(-1, -1, "")
        parent = text.parent(path)
        index = next(i for i, (key, _) in enumerate(parent.pairs) if key.text == path[-1])
        cut = text.cut_flow if parent.is_flow else text.cut_block
        return Splice(*cut(parent, index), "")

    def apply(document: Any) -> None:
        del _part(document, path[:-1])[path[-1]]

    return Edit(splice, apply)


def append(path: Sequence[str], item: dict[str, Any]) -> Edit:
    """Adds an item to the end of the list at the path."""

    def splice(text: YamlText) -> Splice:
        found = text.find(path)
        if found is None or not found.is_list or not found.items:
            raise BadInput(f"{text.name}: has no list '{'.'.join(path)}' with an item")
        line, last = to_yaml(item), text.last(found.items[-1])
        if found.is_flow:
            return Splice(last, last, f", {line}")
        at = text.line_end(last)
        begin = text.line_start(found.start)
        indent = text.text[begin : found.start]
        return Splice(at, at, f"{text.line_break(at)}{indent}- {line}")

    return Edit(splice, lambda document: _part(document, path).append(_as_read(item)))


def add_section(key: str, items: Sequence[dict[str, Any]], before: str) -> Edit:
    """Adds a list under a key of the top mapping, before another key and the comments that lead to
    it."""

    def splice(text: YamlText) -> Splice:
        place = next(name.start for name, _ in text.root.pairs if name.text == before)
        if text.root.is_flow:
            return Splice(place, place, f"{key}: {to_yaml(list(items))}, ")
        at = text.line_start(place)
        indent = text.text[at:place]
        while at > 0 and text.text[text.line_start(at - 1) : at].startswith("#"):
            at = text.line_start(at - 1)
        end = text.line_break(text.line_end(place))
        lines = "".join(f"{indent}  - {to_yaml(item)}{end}" for item in items)
        return Splice(at, at, f"{indent}{key}:{end}{lines}{end}")

    def apply(document: Any) -> None:
        document[key] = _as_read(list(items))

    return Edit(splice, apply)


def _part(document: Any, path: Sequence[str]) -> Any:
    for key in path:
        if isinstance(document, dict):
            document = document[key]
        else:
            document = next(each for each in document if each.get("id", each.get("name")) == key)
    return document


def _as_read(value: Value) -> Any:
    """Returns a value as a reader of the text gets it, with scalars as texts."""
    if isinstance(value, dict):
        return {key: _as_read(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_read(each) for each in value]
    return value if isinstance(value, str) else to_yaml(value)


def to_yaml(value: Value) -> str:
    """Returns a value on one line of YAML. Texts that look like a number are numbers, so that a
    decimal fraction keeps the digits that a user typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {to_yaml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_yaml, value)) + "]"
    if isinstance(value, float):
        text = f"{value:.6f}".rstrip("0").rstrip(".")
        return text or "0"
    if isinstance(value, int):
        return str(value)
    if NUMBER.fullmatch(value) or (PLAIN.fullmatch(value) and value.lower() not in WORDS):
        return value
    return json.dumps(value, ensure_ascii=False)
