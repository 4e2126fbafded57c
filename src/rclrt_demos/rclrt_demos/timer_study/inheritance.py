# SPDX-License-Identifier: Apache-2.0
"""The policies that threads must have, and those that they had according to /proc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclrt_py.files.json_reader import JsonValue

from rclrt_demos.timer_study.matrix import INIT, LOOP, NODE

REALTIME = {"rr": "RR", "fifo": "FF"}
MAIN, OF_INIT, OF_NODE = "main", "init", "node"


@dataclass(frozen=True)
class Thread:
    """One thread of a program while its loop ran."""

    step: str
    """The step that started it: main, init, "node 1", ...; before: a library, ahead of main; later:
    unknown, during the loop."""
    tid: int
    name: str
    policy: str
    priority: int

    @property
    def origin(self) -> str:
        return OF_NODE if self.step.startswith("node ") else self.step


def must_be_realtime(origin: str, policy_set_before: str) -> bool | None:
    """The statement of the study; None for threads without one."""
    if origin == MAIN:
        return True
    if origin == OF_INIT:
        return policy_set_before == INIT
    if origin == OF_NODE:
        return policy_set_before in (INIT, NODE)
    return None


@dataclass(frozen=True)
class Inheritance:
    """The threads of one run, compared with the expected result."""

    policy_set_before: str
    policy: str
    priority: int
    threads: tuple[Thread, ...]
    started: tuple[tuple[str, int], ...]
    """The number of threads that each step started."""
    has_nodes: bool

    def wrong(self) -> list[str]:
        """A sentence for each thread that is not as stated, and for each step without threads."""
        found = []
        for origin in (OF_INIT, OF_NODE) if self.has_nodes else (OF_INIT,):
            if not any(thread.origin == origin for thread in self.threads):
                found.append(f"no thread was started by {origin}: nothing could inherit")
        wanted = f"{REALTIME[self.policy]} {self.priority}"
        for thread in self.threads:
            expected = must_be_realtime(thread.origin, self.policy_set_before)
            if expected is None:
                continue
            shown = f"{thread.policy} {thread.priority}" if thread.priority else thread.policy
            if shown != (wanted if expected else "TS"):
                found.append(
                    f"thread {thread.name} ({thread.tid}) of {thread.step} is {shown}; "
                    f"expected {wanted if expected else 'TS'}"
                )
        return found

    def summary(self, origin: str) -> str:
        """Like "9 x RR 80", of the threads of one origin."""
        counts: dict[str, int] = {}
        for thread in self.threads:
            if thread.origin == origin:
                shown = f"{thread.policy} {thread.priority}" if thread.priority else thread.policy
                counts[shown] = counts.get(shown, 0) + 1
        return ", ".join(f"{count} x {shown}" for shown, count in sorted(counts.items())) or "none"

    def expected(self, origin: str) -> str:
        if origin == OF_NODE and not self.has_nodes:
            return "none"
        wanted = f"{REALTIME[self.policy]} {self.priority}"
        return wanted if must_be_realtime(origin, self.policy_set_before) else "TS"

    def to_json(self) -> dict[str, Any]:
        wrong = self.wrong()
        return {
            "as_stated": not wrong,
            "wrong": wrong,
            "threads_started": dict(self.started),
            "threads": [
                {"step": each.step, "name": each.name, "policy": each.policy,
                 "rtprio": each.priority}
                for each in self.threads
            ],
        }  # fmt: skip


def read_inheritance(summary: JsonValue, has_nodes: bool) -> Inheritance:
    """From the summary that a program has written. Throws BadInput."""
    moment = summary.get("policy_set_before")
    if moment.text() not in (INIT, NODE, LOOP):
        moment.fail("init, node or loop")
    policy = summary.get("policy")
    if policy.text() not in REALTIME:
        policy.fail("rr or fifo")
    threads = tuple(
        Thread(
            item.get("step").text(), item.get("tid").count(), item.get("name").text(),
            item.get("policy").text(), item.get("rtprio").count(),
        )
        for item in summary.get("threads").items()
    )  # fmt: skip
    steps = summary.get("threads_started")
    started = tuple((step, steps.get(step).count()) for step in steps.object())
    return Inheritance(
        moment.text(), policy.text(), summary.get("priority").count(), threads, started, has_nodes
    )
