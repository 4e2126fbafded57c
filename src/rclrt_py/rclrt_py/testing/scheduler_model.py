# SPDX-License-Identifier: Apache-2.0
"""A small model of one core, which gives tests runs with the shape of real ones.

`wait_set` runs ready callbacks without preemption, in rclcpp's order (timers, then subscriptions,
from a snapshot). Every other executor runs the most urgent callback and preempts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

MS = 1_000_000


@dataclass
class Callback:
    id: str
    node: str
    wcet: int
    priority: int
    publishes: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    period: int | None = None

    @property
    def kind(self) -> str:
        if self.period is not None:
            return "timer"
        return "subscription" if len(self.topics) == 1 else "sync"


@dataclass
class Chain:
    id: str
    callbacks: tuple[str, ...]
    priority: int
    deadline: int


@dataclass
class Job:
    callback: Callback
    ready: int
    cost: int
    tokens: dict[str, int]
    release: int | None = None
    outcome: str = "ran"
    start: int | None = None
    end: int | None = None
    left: int = 0
    preemptions: int = 0
    parts: list[tuple[int, int]] = field(default_factory=list)
    outputs: bool = True


@dataclass
class Model:
    """Runs the callbacks for `duration` nanoseconds. `jobs` has the results, by release."""

    callbacks: list[Callback]
    chains: list[Chain]
    executor: str
    duration: int
    seed: int = 1
    dispatch: int = 20_000
    jobs: list[Job] = field(default_factory=list)
    ready: list[Job] = field(default_factory=list)
    snapshot: list[Job] = field(default_factory=list)
    waiting: dict[tuple[str, str], list[dict[str, int]]] = field(default_factory=dict)

    def run(self) -> None:
        self.random = random.Random(self.seed)
        releases = sorted(
            (time, index)
            for index, callback in enumerate(self.callbacks)
            if callback.period
            for time in range(0, self.duration, callback.period)
        )
        now, running = 0, None
        while True:
            while releases and releases[0][0] <= now:
                self._release(*releases.pop(0))
            chosen = self._choose(running)
            if chosen is None:
                if not releases:
                    return
                now = releases[0][0]
                continue
            if running is not None and running is not chosen and running.left > 0:
                running.preemptions += 1
            running = chosen
            if chosen.start is None:
                now += self.dispatch + self.random.randrange(self.dispatch)
                chosen.start = now
            until = now + chosen.left
            if self.executor != "wait_set" and releases:
                until = min(until, max(now, releases[0][0]))
            if chosen.parts and chosen.parts[-1][1] == now:
                chosen.parts[-1] = (chosen.parts[-1][0], until)
            elif until > now:
                chosen.parts.append((now, until))
            chosen.left -= until - now
            now = until
            if chosen.left == 0:
                chosen.end = now
                self._finish(chosen)
            if now >= self.duration:
                return

    def _release(self, time: int, index: int) -> None:
        callback = self.callbacks[index]
        tokens = {
            chain.id: time // (callback.period or 1)
            for chain in self.chains
            if chain.callbacks[0] == callback.id
        }
        self._add(callback, time, tokens, release=time)

    def _add(
        self,
        callback: Callback,
        now: int,
        tokens: dict[str, int],
        release: int | None = None,
        outcome: str = "ran",
    ) -> None:
        share = 0.003 if outcome == "buffered" else self.random.uniform(0.88, 1.0)
        cost = max(1000, int(callback.wcet * share))
        job = Job(callback, now, cost, tokens, release, outcome, left=cost)
        self.jobs.append(job)
        self.ready.append(job)

    def _choose(self, running: Job | None) -> Job | None:
        if self.executor != "wait_set":
            return max(self.ready, key=lambda job: job.callback.priority, default=None)
        if running is not None and running.left > 0:
            return running
        if not self.snapshot:
            order = {callback.id: index for index, callback in enumerate(self.callbacks)}
            self.snapshot = sorted(
                self.ready, key=lambda job: (job.callback.kind != "timer", order[job.callback.id])
            )
        return self.snapshot.pop(0) if self.snapshot else None

    def _finish(self, job: Job) -> None:
        self.ready.remove(job)
        if job.outcome == "buffered":
            return
        for topic in job.callback.publishes:
            for callback in self.callbacks:
                if topic in callback.topics:
                    self._deliver(callback, topic, job)

    def _deliver(self, callback: Callback, topic: str, job: Job) -> None:
        now = job.end or 0
        tokens = {
            chain.id: job.tokens[chain.id]
            for chain in self.chains
            if chain.id in job.tokens and callback.id in chain.callbacks
        }
        if callback.kind != "sync":
            self._add(callback, now, tokens)
            return
        (other,) = (name for name in callback.topics if name != topic)
        partners = self.waiting.setdefault((callback.id, other), [])
        if partners:
            self._add(callback, now, {**partners.pop(0), **tokens})
        else:
            self.waiting.setdefault((callback.id, topic), []).append(tokens)
            self._add(callback, now, {}, outcome="buffered")
