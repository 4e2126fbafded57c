# SPDX-License-Identifier: Apache-2.0
"""The reference of a file format, made from its JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
Schema = dict[str, Any]


def escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|$~])", r"\\\1", " ".join(text.split()))


class Reference:
    """One schema: a table for the file, and one for each object that it names."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.objects: dict[str, Schema] = {
            name: entry for name, entry in schema.get("$defs", {}).items() if rows_of(entry)
        }

    def resolve(self, entry: Schema) -> tuple[str, Schema]:
        """Returns what an entry refers to, with its name; the entry itself has none."""
        name = str(entry.get("$ref", "")).removeprefix("#/$defs/")
        return (name, self.schema["$defs"][name]) if name else ("", entry)

    def type_of(self, entry: Schema) -> str:
        """Returns what values an entry may have, in words."""
        name, found = self.resolve(entry)
        if name in self.objects:
            return f"[{name}](#{name.lower()})"
        if "const" in found:
            return f"`{json.dumps(found['const'])}`"
        if "enum" in found:
            return ", ".join(f"`{value}`" for value in found["enum"])
        for key in ("oneOf", "anyOf"):
            if key in found and "type" not in found:
                return " or ".join(dict.fromkeys(self.type_of(option) for option in found[key]))
        kind = found.get("type", "object" if "properties" in found else "any value")
        if kind == "array":
            return f"list of {self.type_of(found.get('items', {}))}"
        if isinstance(kind, list):
            return " or ".join(kind)
        return f"{kind}{limits(found)}"

    def table(self, entry: Schema) -> Iterator[str]:
        required = set(entry.get("required", ()))
        yield from ("| key | value | meaning |", "|---|---|---|")
        for key, value in rows_of(entry).items():
            if value is False:
                continue
            _, found = self.resolve(value) if isinstance(value, dict) else ("", {})
            said = (value if isinstance(value, dict) else {}).get("description") or found.get(
                "description", ""
            )
            must = " (required)" if key in required else ""
            yield f"| `{key}`{must} | {self.type_of(value or {})} | {escaped(said)} |"
        yield ""

    def nested(self, entry: Schema, path: str) -> Iterator[tuple[str, Schema]]:
        """Yields the objects that stand inside of others, with their paths."""
        for key, value in rows_of(entry).items():
            if not isinstance(value, dict) or "$ref" in value:
                continue
            inner = value.get("items", value) if value.get("type") == "array" else value
            if isinstance(inner, dict) and "$ref" not in inner and rows_of(inner):
                yield f"{path}{key}", inner
                yield from self.nested(inner, f"{path}{key}.")

    def lines(self) -> Iterator[str]:
        if rows_of(self.schema):
            yield from self.section("The file", self.schema)
        for name, entry in self.objects.items():
            yield from self.section(name, entry)

    def section(self, title: str, entry: Schema) -> Iterator[str]:
        yield from (f"### {title}", "")
        if title != "The file" and entry.get("description"):
            yield from (escaped(entry["description"]), "")
        yield from self.table(entry)
        for path, inner in self.nested(entry, ""):
            yield from (f"#### {path}", "")
            if inner.get("description"):
                yield from (escaped(inner["description"]), "")
            yield from self.table(inner)


def rows_of(entry: Schema) -> dict[str, Any]:
    """Returns the keys of an object, also those that only one of its variants has."""
    rows = dict(entry.get("properties", {}))
    for key in ("allOf", "oneOf", "anyOf"):
        for variant in entry.get(key, ()):
            for name, value in variant.get("properties", {}).items():
                rows.setdefault(name, value)
    return rows


def limits(entry: Schema) -> str:
    """Returns the smallest and the largest number that an entry may have, in words."""
    least, most = entry.get("minimum"), entry.get("maximum")
    above, below = entry.get("exclusiveMinimum"), entry.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f" {least} to {most}"
    parts = [
        f"at least {least}" if least is not None else "",
        f"above {above}" if above is not None else "",
        f"at most {most}" if most is not None else "",
        f"below {below}" if below is not None else "",
    ]
    text = ", ".join(part for part in parts if part)
    return f" {text}" if text else ""


def markdown(name: str) -> str:
    """Returns the tables of `schemas/NAME.schema.json`."""
    schema = json.loads((ROOT / f"schemas/{name}.schema.json").read_text(encoding="utf-8"))
    return "\n".join(Reference(schema).lines())
