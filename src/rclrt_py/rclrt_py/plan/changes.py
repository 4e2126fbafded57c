# SPDX-License-Identifier: Apache-2.0
"""The changes that the page asks for, as edits of an app.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclrt_py.errors import BadInput
from rclrt_py.plan.yaml_text import Edit, YamlText, add_section, append, put, remove

DEFAULT_EXECUTOR = "main"
"""The executor of a file that states none."""
MOST_CHANGES = 20_000


def changed(text: YamlText, changes: Any) -> YamlText:
    """Returns the text after a list of changes from the page. A change is one of:

        {"op": "set", "path": [...], "value": VALUE}     null removes the value
        {"op": "move", "callback": ID, "executor": NAME}
        {"op": "executor", "name": NAME, "cpus": [...]}  a new executor

    Throws BadInput for any other JSON, and if the text lacks what is to be changed."""
    if not isinstance(changes, list) or len(changes) > MOST_CHANGES:
        raise BadInput("changes: expected a list")
    edits: list[Edit] = []
    moved: dict[str, list[str]] = {}
    for change in changes:
        if not isinstance(change, dict):
            raise BadInput("changes: expected mappings")
        kind = change.get("op")
        if kind != "move" and moved:
            text, edits = text.edited(edits), _moves(text, moved)
            text, edits, moved = text.edited(edits), [], {}
        if kind == "set":
            path = _path(change.get("path"))
            if path[0] == "executors":
                text, edits = _with_executors(text.edited(edits)), []
            value = change.get("value")
            edits.append(remove(path) if value is None else put(path, _checked(value)))
        elif kind == "move":
            text, edits = text.edited(edits), []
            moved.setdefault(_text(change, "executor"), []).append(_text(change, "callback"))
        elif kind == "executor":
            text = _with_executors(text.edited(edits))
            item = {"name": _text(change, "name"), "cpus": _checked(change.get("cpus", []))}
            if not item["cpus"]:
                del item["cpus"]
            edits = [append(("executors",), item)]
        else:
            raise BadInput(f"changes: unknown change {kind!r}")
    return text.edited(edits if not moved else _moves(text, moved))


def _with_executors(text: YamlText) -> YamlText:
    """Returns the text with a section of executors that every node names: one executor need not be
    named, and two must be."""
    edits: list[Edit] = []
    stated = text.get(("executors",))
    if not stated:
        edits.append(add_section("executors", [{"name": DEFAULT_EXECUTOR}], "nodes"))
    if not stated or len(stated) == 1:
        name = stated[0]["name"] if stated else DEFAULT_EXECUTOR
        edits += [
            put(("nodes", node["name"], "executor"), name)
            for node in text.get(("nodes",)) or []
            if "executor" not in node
        ]
    return text.edited(edits)


def _moves(text: YamlText, moved: dict[str, list[str]]) -> list[Edit]:
    """Returns the edits that give callbacks, by executor, with the others of their groups, to the
    executors. An executor that all callbacks of a node then have becomes the node's."""
    document = text.get(())
    nodes = _by_name(document.get("nodes", []))
    by_id = _by_name(document.get("callbacks", []))
    stated = document.get("executors", [])
    default: str = stated[0]["name"] if len(stated) == 1 else DEFAULT_EXECUTOR
    names: dict[str, str] = {name: node.get("executor", default) for name, node in nodes.items()}
    own: dict[str, str] = {
        name: each.get("executor", names.get(each["node"], default)) for name, each in by_id.items()
    }
    touched: dict[str, None] = {}
    for executor, callbacks in moved.items():
        for callback in callbacks:
            if callback not in by_id:
                raise BadInput(f"{text.name}: has no callback '{callback}'")
            touched[by_id[callback]["node"]] = None
            own[callback] = executor
            group = by_id[callback].get("group")
            if group is not None:
                for name, each in by_id.items():
                    if each["node"] == by_id[callback]["node"] and each.get("group") == group:
                        own[name] = executor
    edits: list[Edit] = []
    for node in touched:
        members = [name for name, each in by_id.items() if each["node"] == node]
        places = {own[name] for name in members}
        if len(places) == 1 and names[node] not in places:
            names[node] = places.pop()
            edits.append(put(("nodes", node, "executor"), names[node]))
        for name in members:
            path = ("callbacks", name, "executor")
            if own[name] == names[node]:
                edits.append(remove(path))
            elif own[name] != by_id[name].get("executor"):
                edits.append(put(path, own[name]))
    return edits


def difference(before: Any, after: Any) -> list[dict[str, Any]]:
    """Returns the changes that give the document `before` the executors, places and priorities of
    the document `after`. Both are what YamlText.get(()) returns; callbacks and nodes are the same
    ones."""
    changes: list[dict[str, Any]] = []
    known = _by_name(before.get("executors", [])) or {DEFAULT_EXECUTOR: {}}
    for executor in after.get("executors", []):
        name = executor["name"]
        own = known.get(name)
        if own is None:
            changes.append({"op": "executor", "name": name, "cpus": executor.get("cpus", [])})
            own = {"cpus": executor.get("cpus")}
        for key in ("cpus", "process", "top_priority"):
            if executor.get(key) is not None and executor.get(key) != own.get(key):
                path = ["executors", name, key]
                changes.append({"op": "set", "path": path, "value": executor[key]})
    for section, keys in (("nodes", ("executor",)), ("callbacks", ("executor", "priority"))):
        old = _by_name(before.get(section, []))
        for item in after.get(section, []):
            name = item.get("id", item.get("name"))
            for key in keys:
                if item.get(key) != old[name].get(key):
                    path = [section, name, key]
                    changes.append({"op": "set", "path": path, "value": item.get(key)})
    return changes


def _by_name(items: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item.get("id", item.get("name", "")): item for item in items}


def _path(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or len(value) > 8:
        raise BadInput("changes: expected a path")
    if not all(isinstance(key, str) for key in value):
        raise BadInput("changes: expected a path of texts")
    return tuple(value)


def _text(change: dict[str, Any], key: str) -> str:
    value = change.get(key)
    if not isinstance(value, str):
        raise BadInput(f"changes: expected a text as '{key}'")
    return value


def _checked(value: Any) -> Any:
    """Refuses what is no value of a field: a list of scalars, or a scalar."""
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float) for item in items):
        raise BadInput("changes: expected a text, a number or a list of these")
    return value
