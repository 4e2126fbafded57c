# SPDX-License-Identifier: Apache-2.0
"""Where the time of an output of a chain that samples went, in the terms of its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.figures import ROUNDING_MS, time_of, time_or_none

TERMS = {
    "source": "until {callback} is released and sees what has happened",
    "response": "response of {chain}",
    "sampling": "until {callback} runs and reads the value",
    "logical": "until the deadline of {chain}, at which its values move",
}
"""The texts of the kinds of terms."""
WAITS = ("source", "sampling")


def term_text(kind: str, chain: str, callback: str) -> str:
    """Returns the term in words."""
    return TERMS[kind].format(chain=chain, callback=callback)


@dataclass(frozen=True)
class WayTerm:
    """One term of the time of an output."""

    kind: str
    chain: str
    """The segment's; of a value that waits, that of the segment that reads it."""
    callback: str
    """It reads the value; in the first segment, it is the first one."""
    instance: int
    """The number of the instance of the segment's chain."""
    time_ms: float
    bound_ms: float | None = None
    """The same term of the bound, if one was asked for and found."""

    @property
    def text(self) -> str:
        return term_text(self.kind, self.chain, self.callback)

    @classmethod
    def read(cls, json: JsonValue, error_ms: float) -> WayTerm:
        kind = json.get("kind")
        if kind.text() not in TERMS:
            kind.fail(f"one of {', '.join(TERMS)}")
        return cls(
            kind=kind.text(),
            chain=json.get("chain").text(),
            callback=json.get("callback").text(),
            instance=json.get("instance").count(),
            time_ms=time_of(json.get("time_ms"), error_ms),
            bound_ms=time_or_none(json.get("bound_ms")) if json.has("bound_ms") else None,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "chain": self.chain,
            "callback": self.callback,
            "instance": self.instance,
            "time_ms": self.time_ms,
            **({} if self.bound_ms is None else {"bound_ms": self.bound_ms}),
        }


@dataclass(frozen=True)
class Way:
    """The terms of one reaction time or data age, in the order of the segments."""

    end_ms: float
    """The time of the output since the start of its run."""
    time_ms: float
    terms: tuple[WayTerm, ...]
    round: int | None = None
    """The round of the output. None: there is one run only."""

    @property
    def longest_wait(self) -> WayTerm | None:
        """The term in which something waited longest for a callback. None: nothing waited."""
        waits = [term for term in self.terms if term.kind in WAITS]
        return max(waits, key=lambda term: term.time_ms, default=None)

    @property
    def text(self) -> str:
        """The terms in words, the longest first."""
        ordered = sorted(self.terms, key=lambda term: -term.time_ms)
        return ", ".join(f"{term.time_ms:.3f} ms {term.text}" for term in ordered)

    def with_bounds(self, bounds: Mapping[tuple[str, str], float]) -> Way:
        """Returns the way with the bounds of its terms, which are given by kind and chain."""
        terms = (replace(term, bound_ms=bounds.get((term.kind, term.chain))) for term in self.terms)
        return replace(self, terms=tuple(terms))

    @classmethod
    def read(cls, json: JsonValue, key: str, error_ms: float) -> Way | None:
        """Reads the way under `key`. None: there is no output, or an earlier version wrote it.
        `error_ms`: by how much the clocks of hosts may be wrong."""
        if not json.has(key):
            return None
        found = json.get(key)
        terms = tuple(WayTerm.read(item, error_ms) for item in found.get("terms").items())
        if not terms:
            found.get("terms").fail("at least one term")
        total_ms = sum(term.time_ms for term in terms)
        if abs(found.get("time_ms").number() - total_ms) > ROUNDING_MS * (len(terms) + 1):
            found.get("time_ms").fail(f"the sum of its terms, {total_ms:.12g}")
        return cls(
            end_ms=found.get("end_ms").number(),
            time_ms=time_of(found.get("time_ms"), error_ms),
            terms=terms,
            round=found.get("round").count() if found.has("round") else None,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "end_ms": self.end_ms,
            **({} if self.round is None else {"round": self.round}),
            "time_ms": self.time_ms,
            "terms": [term.to_json() for term in self.terms],
        }
