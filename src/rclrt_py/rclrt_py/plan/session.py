# SPDX-License-Identifier: Apache-2.0
"""The versions of one application that a page has made, and what it may write."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rclrt_py.errors import BadInput
from rclrt_py.executors import EXECUTORS, check_executor
from rclrt_py.files.atomic import write_atomically
from rclrt_py.native import LARGEST, model, read_input
from rclrt_py.plan.changes import changed
from rclrt_py.plan.worker import Worker
from rclrt_py.plan.written import Output
from rclrt_py.plan.yaml_text import YamlText

MOST_VERSIONS = 5_000
MOST_VARIANTS = 20
LONGEST_NAME = 60


@dataclass(frozen=True)
class Version:
    """A text of the application, and the executor under which it is analysed."""

    yaml: YamlText
    executor: str
    label: str


@dataclass
class Session:
    """One application on one page. Its methods may be called from several threads.

    Every version has an analysis: a change that gives an invalid application is refused with the
    lines of its mistakes, and changes nothing."""

    path: Path
    outputs: Sequence[Output]
    """The files that save() may write."""
    overheads: Mapping[str, Any]
    """The options of the command about overheads, as texts and numbers."""
    observe: Callable[[], Mapping[str, Any] | None] = lambda: None
    """Returns the measured times that the page shows. None: no results were named."""
    worker: Worker = field(default_factory=Worker)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _answers: dict[tuple[str, str], Any] = field(default_factory=dict)
    _variants: dict[str, Version] = field(default_factory=dict)

    def open(self, executor: str) -> None:
        """Reads the file, and analyses it. Throws BadInput if it is not a valid app.yaml."""
        data = read_input(self.path)
        if len(data) > LARGEST:
            raise BadInput(f"{self.path}: is larger than {LARGEST} bytes")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{self.path}: is no UTF-8 text; expected an app.yaml") from error
        try:
            yaml = YamlText(text, str(self.path))
        except model().ModelError as error:
            raise BadInput(str(error)) from error
        self._read = text
        self._versions = [Version(yaml, executor, "")]
        self._position = 0
        self._answer(self._versions[0])

    def state(self) -> dict[str, Any]:
        """Returns everything that the page shows when it is opened."""
        with self._lock:
            first = self._versions[0]
            return {
                "start": self._answer(first),
                "file": self.path.name,
                "executors": list(EXECUTORS),
                "outputs": [{"what": each.what, "path": str(each.path)} for each in self.outputs],
                "observed": self.observe(),
                "overheads": {
                    name: value for name, value in self.overheads.items() if value is not None
                },
                **self._current(),
            }

    def change(self, changes: Any, label: str, merge: bool = False) -> dict[str, Any]:
        """Makes a new version by changes of `changes.py`. Returns its answer. `merge`: replaces the
        current version if it has the same label, as when a slider moves on."""
        with self._lock:
            now = self._versions[self._position]
        try:
            yaml = changed(now.yaml, changes)
        except model().ModelError as error:  # the edit gave no YAML
            raise BadInput(str(error)) from error
        return self._add(now, Version(yaml, now.executor, label), merge)

    def choose_executor(self, executor: str) -> dict[str, Any]:
        """Makes a new version that is analysed under another kind of executor."""
        executor = check_executor(executor)
        with self._lock:
            now = self._versions[self._position]
        return self._add(now, Version(now.yaml, executor, f"executor {executor}"))

    def go(self, position: int) -> dict[str, Any]:
        """Makes an earlier or later version the current one: undo and redo."""
        with self._lock:
            self._position = min(max(position, 0), len(self._versions) - 1)
            return self._current()

    def reset(self) -> dict[str, Any]:
        """Makes a new version that is the same as the first one."""
        with self._lock:
            first = self._versions[0]
            now = self._versions[self._position]
            return self._add(now, Version(first.yaml, first.executor, "back to the start"))

    def keep_variant(self, name: str) -> dict[str, Any]:
        """Keeps the current version under a name, beside the others."""
        name = name.strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise BadInput(f"variant: expected a name of 1 to {LONGEST_NAME} characters")
        with self._lock:
            if len(self._variants) >= MOST_VARIANTS and name not in self._variants:
                raise BadInput(f"variant: there are {MOST_VARIANTS}; remove one first")
            self._variants[name] = self._versions[self._position]
            return self._current()

    def open_variant(self, name: str) -> dict[str, Any]:
        """Makes a new version that is the same as the variant."""
        with self._lock:
            kept = self._variant(name)
            now = self._versions[self._position]
            return self._add(now, Version(kept.yaml, kept.executor, f"variant {name}"))

    def remove_variant(self, name: str) -> dict[str, Any]:
        with self._lock:
            self._variant(name)
            del self._variants[name]
            return self._current()

    def request(self) -> dict[str, Any]:
        """Returns what a job needs to know of the current version."""
        with self._lock:
            return self._request(self._versions[self._position])

    def diff(self) -> str:
        """Returns the differences of the current text from the file as it was read or written."""
        with self._lock:
            text = self._versions[self._position].yaml.text
            return _unified(self._read, text, self.path.name)

    def outcome(self, what: str) -> dict[str, Any]:
        """Returns what save() would write: the text, its differences from the file that is there,
        and whether this file has changed since it was read."""
        with self._lock:
            output = self._output(what)
            version = self._versions[self._position]
            text = output.text(version.yaml.text, str(self.path), version.executor)
            there = output.path.exists()
            old = read_input(output.path).decode("utf-8", "replace") if there else ""
            return {
                "path": str(output.path),
                "exists": there,
                "changed_on_disk": what == "app"
                and there
                and output.path == self.path
                and old != self._read,
                "diff": _unified(old, text, output.path.name),
            }

    def save(self, what: str, overwrite: bool) -> dict[str, Any]:
        """Writes one of the files that were named at the start. Throws BadInput if the file is
        there and `overwrite` is false."""
        with self._lock:
            output = self._output(what)
            version = self._versions[self._position]
            text = output.text(version.yaml.text, str(self.path), version.executor)
            if output.path.exists() and not overwrite:
                raise BadInput(f"{output.path}: is there already; confirm to replace it")
            write_atomically(output.path, text)
            if output.path == self.path:
                self._read = text
            return {"saved": str(output.path), **self._current()}

    def _output(self, what: str) -> Output:
        for output in self.outputs:
            if output.what == what:
                return output
        raise BadInput(f"save: no file was named for '{what}' when the command was started")

    def _variant(self, name: str) -> Version:
        if name not in self._variants:
            raise BadInput(f"variant: there is none of the name '{name}'")
        return self._variants[name]

    def _add(self, now: Version, new: Version, merge: bool = False) -> dict[str, Any]:
        """Analyses a version, and makes it the current one behind `now`. Throws BadInput if it is
        invalid, or if another change was made meanwhile."""
        if new.yaml.text != now.yaml.text or new.executor != now.executor:
            self._answer(new)
        with self._lock:
            if self._versions[self._position] is not now:
                raise BadInput("another change was made meanwhile; this one was dropped")
            if new.yaml.text != now.yaml.text or new.executor != now.executor:
                if self._position + 1 >= MOST_VERSIONS:
                    raise BadInput(f"there are {MOST_VERSIONS} changes; save and start again")
                if not (merge and self._position > 0 and now.label == new.label):
                    self._position += 1
                self._versions[self._position :] = [new]
            return self._current()

    def _answer(self, version: Version) -> Any:
        key = version.yaml.text, version.executor
        if key not in self._answers:
            found = self.worker.ask("answer", self._request(version))
            found["stated"] = _stated(version.yaml)
            while len(self._answers) >= 50:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = found
        return self._answers[key]

    def _request(self, version: Version) -> dict[str, Any]:
        return {
            "text": version.yaml.text,
            "name": str(self.path),
            "executor": version.executor,
            "overheads": dict(self.overheads),
        }

    def _current(self) -> dict[str, Any]:
        version = self._versions[self._position]
        return {
            "answer": self._answer(version),
            "executor": version.executor,
            "position": self._position,
            "labels": [each.label for each in self._versions[1:]],
            "dirty": version.yaml.text != self._read,
            "variants": [
                {
                    "name": name,
                    "executor": kept.executor,
                    "current": kept.yaml.text == version.yaml.text
                    and kept.executor == version.executor,
                    "chains": _summary(self._answer(kept)),
                }
                for name, kept in self._variants.items()
            ],
        }


def _stated(yaml: YamlText) -> dict[str, Any]:
    """Returns which parts the file states, and may be written into."""
    return {"chains": yaml.names(("chains",)), "executors": bool(yaml.names(("executors",)))}


def _summary(answer: Any) -> dict[str, Any]:
    """Returns the bound and verdict of each chain."""
    return {
        chain["id"]: {"bound_ms": chain["bound_ms"], "verdict": chain["verdict"]}
        for chain in answer["analysis"]["chains"]
    }


def _unified(old: str, new: str, name: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"{name} (file)", f"{name} (page)", lineterm="", n=2
    )
    return "\n".join(lines)
