# SPDX-License-Identifier: Apache-2.0
"""The figures of a results.json: times, distributions and counts. Impossible ones are refused: a
time below zero, percentiles out of order, counts that do not add up."""

from __future__ import annotations

from itertools import pairwise

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.stats import Summary

ROUNDING_MS = 1e-6
"""Times are exact to the nanosecond."""


def time_of(json: JsonValue, error_ms: float = 0.0) -> float:
    """Returns a time that is not negative. Between hosts, it may be below zero by the error of
    their clocks."""
    if json.number() < -error_ms:
        allowed = f", or below 0 by the error of {error_ms:g} ms" if error_ms else ""
        json.fail(f"a time, 0 or more{allowed}")
    return json.number()


def time_or_none(json: JsonValue, error_ms: float = 0.0) -> float | None:
    """Returns a time as time_of() does. None: the value is null."""
    return None if json.value is None else time_of(json, error_ms)


def optional_time(owner: JsonValue, key: str) -> float | None:
    """Returns the time below the key. None: the key is absent."""
    return time_of(owner.get(key)) if owner.has(key) else None


def error_of(owner: JsonValue) -> float:
    """Returns by how much the times of a chain, callback or hop may be wrong because the clocks of
    hosts are compared. 0: the run was on one host."""
    return optional_time(owner, "error_ms") or 0.0


def read_summary(json: JsonValue, error_ms: float = 0.0) -> Summary | None:
    """Returns the times of a distribution. None: there are none."""
    if json.value is None:
        return None
    values = {key: json.get(key).number() for key in ("best", "mean", "p50", "p99", "worst")}
    time_of(json.get("best"), error_ms)
    for order in (("best", "p50", "p99", "worst"), ("best", "mean", "worst")):
        for less, more in pairwise(order):
            if values[more] < values[less] - ROUNDING_MS:
                json.get(more).fail(f"no less than {less}, {values[less]:.12g}")
    return Summary(**values)


def count_within(json: JsonValue, most: int, what: str) -> int:
    """Returns a count of at most `most`, which is that of `what`."""
    if json.count() > most:
        json.fail(f"at most {what}, {most}")
    return json.count()


def optional_count(owner: JsonValue, key: str) -> int:
    """Returns a count that results of earlier versions do not have."""
    return owner.get(key).count() if owner.has(key) else 0


def check_chain_counts(chain: JsonValue) -> None:
    """Refuses a chain unless each released instance has one fate, and no more of them have missed
    the deadline than there are."""
    completed = chain.get("completed").count()
    fates = sum(chain.get(key).count() for key in ("dropped", "pending"))
    fates += completed + optional_count(chain, "unmatched")
    released = chain.get("released")
    if released.count() != fates:
        released.fail(f"completed + dropped + pending + unmatched, {fates}")
    due = fates - optional_count(chain, "unmatched")
    missed = count_within(chain.get("missed"), due, "completed + dropped + pending")
    count_within(chain.get("missed_host"), missed, "missed")
    if chain.has("unknown"):
        count_within(chain.get("unknown"), completed, "completed")
    times = chain.get("response_ms")
    if (times.value is None) != (completed == 0):
        times.fail("times, because instances completed" if completed else "null: none completed")


def check_callback_counts(callback: JsonValue) -> None:
    """Refuses a callback of which more instances ended than were released."""
    released = callback.get("released").count()
    completed = count_within(callback.get("completed"), released, "released")
    count_within(callback.get("dropped"), released - completed, "released - completed")
    count_within(callback.get("missed"), released, "released")
