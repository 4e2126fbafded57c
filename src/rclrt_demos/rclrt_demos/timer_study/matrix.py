# SPDX-License-Identifier: Apache-2.0
"""The runs of the study, and the published result of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

INIT, NODE, LOOP = "init", "node", "loop"
"""The step before which the main thread gets its real-time policy."""

CHILDREN = {
    INIT: "real-time children",
    NODE: "real-time children of the node alone",
    LOOP: "time-sharing children",
}
WAKE_UP = {"init_thread": "init", "init_and_node_thread": "init + node"}
CALLBACK = {
    "timer_cb_latency_spin_some": "sleep + spin_some",
    "timer_cb_latency_spin": "spin",
}
RASPBERRY_PI = "Raspberry Pi 3B+, Linux 4.19-rt, Eloquent"


@dataclass(frozen=True)
class Case:
    """One program with its policy set at one moment."""

    program: str
    policy_set_before: str
    published_us: tuple[int, int] | None = None
    """The range of latencies that the study reports."""

    @property
    def has_nodes(self) -> bool:
        return self.program != "init_thread"

    @property
    def measures_callbacks(self) -> bool:
        return self.program in CALLBACK

    @property
    def what(self) -> str:
        return CALLBACK[self.program] if self.measures_callbacks else WAKE_UP[self.program]

    @property
    def children(self) -> str:
        return CHILDREN[self.policy_set_before]

    @property
    def name(self) -> str:
        """The name of the case and of the directory with its files."""
        return f"{self.program}_policy_before_{self.policy_set_before}"


# The cases that the study measured, with the latencies in microseconds that its text states. The
# text states none for the thread of init alone, nor for callbacks beside real-time child threads.
CASES = (
    Case("init_thread", LOOP),
    Case("init_thread", INIT),
    Case("init_and_node_thread", LOOP, (10, 60)),
    Case("init_and_node_thread", INIT, (10, 500)),
    Case("timer_cb_latency_spin_some", LOOP, (150, 500)),
    Case("timer_cb_latency_spin_some", INIT),
    Case("timer_cb_latency_spin", LOOP, (30, 50)),
    Case("timer_cb_latency_spin", INIT),
)
BETWEEN = Case("init_and_node_thread", NODE)
"""Only for its threads: the study did not measure it."""

PUBLISHED_THREADS = (
    "1 thread of init; Fast DDS (Eloquent) 5 threads of each node; Cyclone DDS 7 that all nodes "
    "share"
)


def all_cases() -> Iterator[Case]:
    yield from CASES
    yield BETWEEN
