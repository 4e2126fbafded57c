# SPDX-License-Identifier: Apache-2.0
"""The times of messages in a results.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.figures import count_within, error_of, read_summary
from rclrt_py.stats import Summary

BETWEEN = ("callbacks", "executors", "processes", "hosts")


@dataclass(frozen=True)
class HopResult:
    """The messages from one callback to another."""

    sender: str
    receiver: str
    between: str
    """Either "callbacks" of one executor, "executors" of one process, "processes" or "hosts"."""
    messages: int
    time: Summary
    """Time from publication until the executor knew of the message."""
    error_ms: float = 0.0
    """The times are wrong by at most this, in either direction: between hosts."""
    early: int = 0
    """Messages between hosts that came out as received before they were sent: counted as 0 ms."""

    @classmethod
    def read(cls, json: JsonValue) -> HopResult:
        time = read_summary(json.get("time_ms"))
        between = json.get("between")
        if between.text() not in BETWEEN or time is None:
            between.fail(f"one of {', '.join(BETWEEN)}, and times")
        messages = json.get("messages").count()
        return cls(
            sender=json.get("from").text(),
            receiver=json.get("to").text(),
            between=between.text(),
            messages=messages,
            time=time,
            error_ms=error_of(json),
            early=count_within(json.get("early"), messages, "messages") if json.has("early") else 0,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "from": self.sender,
            "to": self.receiver,
            "between": self.between,
            "messages": self.messages,
            "time_ms": self.time.to_json(),
            **({"error_ms": self.error_ms} if self.error_ms else {}),
            **({"early": self.early} if self.early else {}),
        }
