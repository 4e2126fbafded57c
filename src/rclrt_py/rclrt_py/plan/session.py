# SPDX-License-Identifier: Apache-2.0
"""The versions of one application that a page has made, and what it may write."""

from __future__ import annotations

import difflib
import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rclrt_py.errors import BadInput, RclrtError
from rclrt_py.executors import EXECUTORS, check_executor
from rclrt_py.files.atomic import write_atomically
from rclrt_py.native import LARGEST, model, read_input
from rclrt_py.plan.changes import changed
from rclrt_py.plan.worker import Worker
from rclrt_py.plan.written import KINDS, Output
from rclrt_py.plan.yaml_text import YamlText

MOST_VERSIONS = 1000
"""Steps that can be undone."""
MOST_VARIANTS = 20
MOST_ANSWERS = 50
LONGEST_NAME = 60


class Conflict(RclrtError):
    """A request is about another version or file than the one that its page shows."""


@dataclass(frozen=True)
class Version:
    """A text of the application, and the executor under which it is analysed."""

    id: int
    text: str
    executor: str
    label: str


@dataclass(frozen=True)
class Variant:
    """A version that was kept, and the bounds of its chains."""

    version: Version
    chains: dict[str, Any]


@dataclass
class Session:
    """One application on one page. Its methods may be called from several threads.

    Every version has an analysis: a change that gives an invalid application is refused with the
    lines of its mistakes, and changes nothing. A request names the version that its page shows
    (`base`), so that a second page cannot change what it does not show."""

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
    _variants: dict[str, Variant] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)
    """The content of each output that was read or written here last, as its hash."""

    def open(self, executor: str, first: int = 1) -> None:
        """Reads the file, and analyses it; this version has the id `first`. Throws BadInput if it
        is not a valid app.yaml."""
        data = read_input(self.path)
        if len(data) > LARGEST:
            raise BadInput(f"{self.path}: is larger than {LARGEST} bytes")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{self.path}: is no UTF-8 text; expected an app.yaml") from error
        try:
            self._yaml = YamlText(text, str(self.path))
        except model().ModelError as error:
            raise BadInput(str(error)) from error
        self._saved = text
        self._known = {each.what: _hash(_content(each.path)) for each in self.outputs}
        self._versions = [Version(first, text, executor, "")]
        self._position = 0
        self._last_id = first
        self._first = self._shown = self._answer(self._versions[0])

    @property
    def last_id(self) -> int:
        """The id of the version that was made last."""
        with self._lock:
            return self._last_id

    def places(self) -> dict[str, str]:
        """Returns the ids of the callbacks by their names in the ROS graph: the names of the start,
        and those of the current version, which may have other groups."""
        with self._lock:
            models = [self._first["model"], self._shown["model"]]
        result: dict[str, str] = {}
        for shown in models:
            for callback in shown["callbacks"]:
                for place in callback["places"]:
                    result.setdefault(place, callback["id"])
        return result

    @property
    def has_unsaved_changes(self) -> bool:
        with self._lock:
            return self._versions[self._position].text != self._saved

    def state(self) -> dict[str, Any]:
        """Returns everything that the page shows when it is opened."""
        seen = self.observe()
        with self._lock:
            return {
                "start": self._first,
                "first": self._versions[0].id,
                "file": self.path.name,
                "executors": list(EXECUTORS),
                "outputs": [{"what": each.what, "path": str(each.path)} for each in self.outputs],
                "observed": seen,
                **self._current(),
            }

    def change(self, base: int, changes: Any, label: str, merge: bool = False) -> dict[str, Any]:
        """Makes a new version by changes of `changes.py`. Returns its answer. `merge`: replaces the
        current version if it has the same label, as when a slider moves on."""
        now = self._at(base)
        yaml = self._yaml
        try:
            if yaml.text != now.text:
                yaml = YamlText(now.text, str(self.path))
            yaml = changed(yaml, changes)
        except model().ModelError as error:  # the edit gave no YAML
            raise BadInput(str(error)) from error
        merge = merge and now.label == label
        state = self._add(now, Version(0, yaml.text, now.executor, label), merge)
        self._yaml = yaml
        return state

    def choose_executor(self, base: int, executor: str) -> dict[str, Any]:
        """Makes a new version that is analysed under another kind of executor."""
        executor = check_executor(executor)
        now = self._at(base)
        return self._add(now, Version(0, now.text, executor, f"executor {executor}"))

    def go(self, base: int, step: int) -> dict[str, Any]:
        """Makes the version before (-1) or behind (+1) the current one: undo and redo."""
        now = self._at(base)
        with self._lock:
            position = min(max(self._position + step, 0), len(self._versions) - 1)
            version = self._versions[position]
        found = self._answer(version)
        with self._lock:
            self._check(now)
            self._position, self._shown = position, found
            return self._current()

    def reset(self, base: int) -> dict[str, Any]:
        """Makes a new version that is the same as the first one."""
        first = self._versions[0]
        return self._add(
            self._at(base), Version(0, first.text, first.executor, "back to the start")
        )

    def keep_variant(self, base: int, name: str) -> dict[str, Any]:
        """Keeps the current version under a name, beside the others."""
        name = name.strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise BadInput(f"variant: expected a name of 1 to {LONGEST_NAME} characters")
        now = self._at(base)
        with self._lock:
            self._check(now)
            if len(self._variants) >= MOST_VARIANTS and name not in self._variants:
                raise BadInput(f"variant: there are {MOST_VARIANTS}; remove one first")
            self._variants[name] = Variant(now, _summary(self._shown))
            return self._current()

    def open_variant(self, base: int, name: str) -> dict[str, Any]:
        """Makes a new version that is the same as the variant."""
        kept = self._variant(name).version
        return self._add(self._at(base), Version(0, kept.text, kept.executor, f"variant {name}"))

    def remove_variant(self, base: int, name: str) -> dict[str, Any]:
        with self._lock:
            self._at(base)
            self._variant(name)
            del self._variants[name]
            return self._current()

    def request(self, base: int) -> dict[str, Any]:
        """Returns what a job needs to know of the current version."""
        return self._request(self._at(base))

    def diff(self) -> str:
        """Returns the differences of the current text from the file as it was read or written."""
        with self._lock:
            return _unified(self._saved, self._versions[self._position].text, self.path.name)

    def outcome(self, base: int, what: str) -> dict[str, Any]:
        """Returns what save() would write: its differences from the file that is there, whether
        this file has changed since it was read or written here, and a mark for save()."""
        with self._lock:
            output, text = self._written(base, what)
            old = _content(output.path)
            return {
                "path": str(output.path),
                "exists": old is not None,
                "changed_on_disk": _hash(old) != self._known[what],
                "diff": _unified(old or "", text, output.path.name),
                "seen": _hash(old) + _hash(text),
            }

    def save(self, base: int, what: str, seen: str) -> dict[str, Any]:
        """Writes one of the files that were named at the start. `seen` is the mark of the outcome
        that the user has seen. Throws Conflict if the file or the application is another one."""
        with self._lock:
            output, text = self._written(base, what)
            if seen != _hash(_content(output.path)) + _hash(text):
                raise Conflict(
                    f"{output.path}: has changed since its differences were shown; nothing was "
                    "written: look at the differences again"
                )
            write_atomically(output.path, text)
            self._known[what] = _hash(text)
            if what == "app":
                self._saved = text
            return {"saved": str(output.path), **self._current()}

    def download(self, base: int, what: str) -> dict[str, Any]:
        """Returns the name and content of a file for the browser to keep. Nothing is written here.
        If no file was named for the application, its current text counts as saved."""
        if what not in KINDS:
            raise BadInput(f"download: expected one of {', '.join(KINDS)}")
        with self._lock:
            version = self._at(base)
            text = Output(what, self.path).text(version.text, str(self.path), version.executor)
            name = self._shown["model"]["name"]
            if what == "app" and all(each.what != "app" for each in self.outputs):
                self._saved = version.text
            file = f"{name}.yaml" if what == "app" else f"{name}-{what}.yaml"
            return {"name": file, "text": text, "state": self._current()}

    def check(self, base: int) -> None:
        """Throws Conflict if the current version is not the one that a page shows."""
        self._at(base)

    def _written(self, base: int, what: str) -> tuple[Output, str]:
        """Returns an output and its new content."""
        version = self._at(base)
        for output in self.outputs:
            if output.what == what:
                return output, output.text(version.text, str(self.path), version.executor)
        raise BadInput(f"save: no file was named for '{what}' when the command was started")

    def _variant(self, name: str) -> Variant:
        if name not in self._variants:
            raise BadInput(f"variant: there is none of the name '{name}'")
        return self._variants[name]

    def _at(self, base: int) -> Version:
        """Returns the current version. Throws Conflict if it is not the one that a page shows."""
        with self._lock:
            now = self._versions[self._position]
            if now.id != base:
                raise Conflict(
                    "another page has changed the application meanwhile; this change was not made"
                )
            return now

    def _check(self, now: Version) -> None:
        self._at(now.id)

    def _add(self, now: Version, new: Version, merge: bool = False) -> dict[str, Any]:
        """Analyses a version, and makes it the current one behind `now`. Throws BadInput if it is
        invalid, and Conflict if another change was made meanwhile; then nothing has changed."""
        if (new.text, new.executor) == (now.text, now.executor):
            with self._lock:
                return self._current()
        found = self._answer(new)
        with self._lock:
            self._check(now)
            self._last_id += 1
            new = replace(new, id=self._last_id)
            if not (merge and self._position > 0):
                self._position += 1
            self._versions[self._position :] = [new]
            if len(self._versions) > MOST_VERSIONS:
                del self._versions[1]
                self._position -= 1
            self._shown = found
            return self._current()

    def _answer(self, version: Version) -> Any:
        key = version.text, version.executor
        with self._lock:
            if key in self._answers:
                return self._answers[key]
        found = self.worker.ask("answer", self._request(version))
        found["stated"] = _stated(YamlText(version.text, str(self.path)))
        with self._lock:
            while len(self._answers) >= MOST_ANSWERS:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = found
        return found

    def _request(self, version: Version) -> dict[str, Any]:
        return {
            "text": version.text,
            "name": str(self.path),
            "executor": version.executor,
            "overheads": dict(self.overheads),
        }

    def _current(self) -> dict[str, Any]:
        """Returns the state after a change. Computes nothing: what was changed, was changed."""
        version = self._versions[self._position]
        return {
            "answer": self._shown,
            "executor": version.executor,
            "version": version.id,
            "position": self._position,
            "labels": [each.label for each in self._versions[1:]],
            "dirty": version.text != self._saved,
            "variants": [
                {
                    "name": name,
                    "executor": kept.version.executor,
                    "current": (kept.version.text, kept.version.executor)
                    == (version.text, version.executor),
                    "chains": kept.chains,
                }
                for name, kept in self._variants.items()
            ],
        }


def _content(path: Path) -> str | None:
    """Returns the text of a file. None: there is no file."""
    if not path.exists():
        return None
    return read_input(path).decode("utf-8", "replace")


def _hash(text: str | None) -> str:
    return "absent" if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()


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
    text = "\n".join(lines)
    return text if text or old == new else f"{name}: only the ends of lines differ"
