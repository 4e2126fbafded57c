# SPDX-License-Identifier: Apache-2.0
"""The content of a results.json (schemas/results.schema.json). Errors name their place in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.cause_effect import CauseEffectResult
from rclrt_py.runs.context import read_context
from rclrt_py.runs.event_times import EventTimes
from rclrt_py.runs.figures import (
    check_callback_counts,
    check_chain_counts,
    count_within,
    error_of,
    optional_count,
    optional_time,
    read_summary,
    time_of,
    time_or_none,
)
from rclrt_py.runs.hops import HopResult
from rclrt_py.runs.hosts import HostResult, OverHosts, read_hosts
from rclrt_py.runs.misses import check_misses
from rclrt_py.runs.simulated import Replayed, read_simulated, replayed_of
from rclrt_py.runs.streamed import Streamed, read_ended
from rclrt_py.stats import Summary, round_half_up

RESULTS_VERSION = 1
MIN_DEADLINE_MS = 1e-6


@dataclass(frozen=True)
class Step:
    """The time from the release of a chain's timer or event to the end of one of its callbacks."""

    callback: str
    bound_ms: float | None
    worst_ms: float | None

    @classmethod
    def read(cls, json: JsonValue, error_ms: float) -> Step:
        return cls(
            callback=json.get("callback").text(),
            bound_ms=time_or_none(json.get("bound_ms")),
            worst_ms=time_or_none(json.get("worst_ms"), error_ms),
        )


@dataclass(frozen=True)
class ChainPrediction:
    """The bound of a chain, and its comparison with the observations."""

    bound_ms: float | None
    verdict: str
    assumptions: tuple[str, ...]
    exceeded: int
    """Instances above the bound."""
    exceeded_host: int
    """Instances above the bound that a measured stall of the host explains."""
    exceeded_broken: int = 0
    """The others for which a measurement contradicts another assumption."""
    exceeded_why: tuple[str, ...] = ()
    """The evidence on the worst instances that no stall explains."""
    steps: tuple[Step, ...] = ()
    note: str = ""
    """Why there is no bound below the deadline. Empty: there is one."""

    @property
    def exceeded_own(self) -> int:
        return self.exceeded - self.exceeded_host

    @classmethod
    def read(cls, json: JsonValue) -> ChainPrediction:
        released = json.get("released").count()
        exceeded = count_within(json.get("exceeded"), released, "released")
        by_host = count_within(json.get("exceeded_host"), exceeded, "exceeded")
        own = "exceeded - exceeded_host"
        return cls(
            bound_ms=time_or_none(json.get("bound_ms")),
            verdict=json.get("verdict").text(),
            assumptions=tuple(json.get("assumptions").texts()),
            exceeded=exceeded,
            exceeded_host=by_host,
            exceeded_broken=count_within(json.get("exceeded_broken"), exceeded - by_host, own),
            exceeded_why=tuple(json.get("exceeded_why").texts()),
            steps=tuple(Step.read(item, error_of(json)) for item in json.get("steps").items()),
            note=json.get("note").text() if json.has("note") else "",
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "bound_ms": self.bound_ms,
            "verdict": self.verdict,
            "assumptions": list(self.assumptions),
            "exceeded": self.exceeded,
            "exceeded_host": self.exceeded_host,
            "exceeded_broken": self.exceeded_broken,
            "exceeded_why": list(self.exceeded_why),
            "steps": [asdict(step) for step in self.steps],
            **({"note": self.note} if self.note else {}),
        }


@dataclass(frozen=True)
class ChainResult:
    """The results of one chain under one executor."""

    id: str
    priority: int
    period_ms: float
    deadline_ms: float
    callbacks: tuple[str, ...]
    released: int
    completed: int
    dropped: int
    pending: int
    unmatched: int
    """Instances that a synchroniser left over. They are not misses."""
    missed: int
    missed_host: int
    response: Summary | None
    predicted: ChainPrediction | None = None
    """The bound of the analysis, if one was asked for."""
    event: EventTimes | None = None  # None: a timer starts the chain
    over_hosts: OverHosts | None = None
    """None: the run was on one host."""

    @property
    def normalised_worst(self) -> float | None:
        """The worst response time divided by the deadline, rounded to six digits in the same steps
        as in the runner. None: the chain has no completed instance."""
        if self.response is None:
            return None
        worst_ns = round_half_up(self.response.worst * 1e6)
        return round_half_up(worst_ns / round_half_up(self.deadline_ms * 1e6) * 1e6) / 1e6

    @property
    def due(self) -> int:
        """Returns the number of releases that have a deadline to meet."""
        return self.released - self.unmatched

    @property
    def missed_own(self) -> int:
        """Returns the misses that no host stall explains."""
        return self.missed - self.missed_host

    @classmethod
    def read(cls, json: JsonValue) -> ChainResult:
        deadline = json.get("deadline_ms")
        if deadline.number() < MIN_DEADLINE_MS:
            deadline.fail("a deadline of at least 0.000001 ms")
        check_chain_counts(json)
        return cls(
            id=json.get("id").text(),
            priority=json.get("priority").integer(),
            period_ms=time_of(json.get("period_ms")),
            deadline_ms=deadline.number(),
            callbacks=tuple(json.get("callbacks").texts()),
            released=json.get("released").count(),
            completed=json.get("completed").count(),
            dropped=json.get("dropped").count(),
            pending=json.get("pending").count(),
            unmatched=optional_count(json, "unmatched"),
            missed=json.get("missed").count(),
            missed_host=json.get("missed_host").count(),
            response=read_summary(json.get("response_ms"), error_of(json)),
            predicted=ChainPrediction.read(json) if json.has("verdict") else None,
            event=EventTimes.read(json),
            over_hosts=OverHosts.read(json),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "priority": self.priority,
            "period_ms": self.period_ms,
            **({"event": asdict(self.event)} if self.event else {}),
            "deadline_ms": self.deadline_ms,
            "callbacks": list(self.callbacks),
            "released": self.released,
            "completed": self.completed,
            "dropped": self.dropped,
            "pending": self.pending,
            "unmatched": self.unmatched,
            "missed": self.missed,
            "missed_host": self.missed_host,
            **(self.over_hosts.to_json() if self.over_hosts else {}),
            "response_ms": self.response.to_json() if self.response else None,
            "normalised_worst": self.normalised_worst,
            "jitter_ms": self.response.jitter if self.response else None,
            **(self.predicted.to_json() if self.predicted else {}),
        }


@dataclass(frozen=True)
class CallbackResult:
    """The results of one callback under one executor."""

    id: str
    node: str
    kind: str
    priority: int
    kernel_priority: int | None
    released: int
    completed: int
    dropped: int
    missed: int
    response: Summary | None
    dispatch: Summary | None
    execution: Summary | None
    preemptions: int
    deadline_ms: float | None = None
    """Deadline from the release. (`max_age_ms` begins at the time of the message's data.)"""
    max_age_ms: float | None = None
    migrations: int | None = None
    """How often instances continued on another CPU. None: their CPUs are not known."""
    error_ms: float | None = None
    """Its times are wrong by at most this, in either direction. None: the run was on one host."""

    @classmethod
    def read(cls, json: JsonValue) -> CallbackResult:
        check_callback_counts(json)
        kernel_priority = json.get("kernel_priority")
        error_ms = error_of(json)
        return cls(
            id=json.get("id").text(),
            node=json.get("node").text(),
            kind=json.get("kind").text(),
            priority=json.get("priority").integer(),
            kernel_priority=None if kernel_priority.value is None else kernel_priority.integer(),
            released=json.get("released").count(),
            completed=json.get("completed").count(),
            dropped=json.get("dropped").count(),
            missed=json.get("missed").count(),
            response=read_summary(json.get("response_ms"), error_ms),
            dispatch=read_summary(json.get("dispatch_ms"), error_ms),
            execution=read_summary(json.get("execution_ms")),
            preemptions=json.get("preemptions").count(),
            deadline_ms=optional_time(json, "deadline_ms"),
            max_age_ms=optional_time(json, "max_age_ms"),
            migrations=json.get("migrations").count() if json.has("migrations") else None,
            error_ms=optional_time(json, "error_ms"),
        )

    def to_json(self) -> dict[str, Any]:
        optional = {
            "deadline_ms": self.deadline_ms,
            "max_age_ms": self.max_age_ms,
            "migrations": self.migrations,
            "error_ms": self.error_ms,
        }
        return {key: value for key, value in optional.items() if value is not None} | {
            "id": self.id,
            "node": self.node,
            "kind": self.kind,
            "priority": self.priority,
            "kernel_priority": self.kernel_priority,
            "released": self.released,
            "completed": self.completed,
            "dropped": self.dropped,
            "missed": self.missed,
            "response_ms": self.response.to_json() if self.response else None,
            "dispatch_ms": self.dispatch.to_json() if self.dispatch else None,
            "execution_ms": self.execution.to_json() if self.execution else None,
            "jitter_ms": self.response.jitter if self.response else None,
            "preemptions": self.preemptions,
        }


@dataclass(frozen=True)
class Results:
    """The results of one executor: of one run, or merged over several rounds."""

    application: dict[str, Any]
    executor: str
    executor_label: str
    started_utc: str
    duration_s: float
    rounds: int
    t0_monotonic_ns: int
    context: dict[str, Any]
    chains: tuple[ChainResult, ...]
    callbacks: tuple[CallbackResult, ...]
    threads: list[Any]
    hops: tuple[HopResult, ...] = ()
    """Times of messages, for a single run that has them."""
    hosts: tuple[HostResult, ...] = ()
    """Empty: the run was on one host."""
    cause_effect_chains: tuple[CauseEffectResult, ...] = ()
    simulated: dict[str, Any] | None = None
    """Parameters of the simulation. None: it was a real run."""
    streamed: Streamed | None = None
    """The part of the instances that is kept. None: all of them are."""
    ended: str | None = None
    """How the run ended early: "interrupted", or "running" if nothing is known of its end."""

    @classmethod
    def read(cls, json: JsonValue) -> Results:
        version = json.get("rclrt_results")
        if version.integer() != RESULTS_VERSION:
            version.fail(f"format version {RESULTS_VERSION}")
        threads = json.get("threads")
        list(threads.items())
        if not list(json.get("chains").items()):
            json.get("chains").fail("at least one chain")
        chains = tuple(map(ChainResult.read, json.get("chains").items()))
        check_misses(json, {chain.id for chain in chains})
        return cls(
            application=read_application(json.get("application")),
            executor=json.get("executor").text(),
            executor_label=json.get("executor_label").text(),
            started_utc=json.get("started_utc").text(),
            duration_s=time_of(json.get("duration_s")),
            rounds=json.get("rounds").count(),
            t0_monotonic_ns=json.get("t0_monotonic_ns").integer(),
            context=read_context(json.get("context")),
            chains=chains,
            callbacks=tuple(CallbackResult.read(item) for item in json.get("callbacks").items()),
            threads=threads.value,
            hops=tuple(map(HopResult.read, json.get("hops").items())) if json.has("hops") else (),
            hosts=read_hosts(json),
            cause_effect_chains=tuple(
                map(CauseEffectResult.read, json.get("cause_effect_chains").items())
            )
            if json.has("cause_effect_chains")
            else (),
            simulated=read_simulated(json),
            streamed=Streamed.read(json),
            ended=read_ended(json),
        )

    @classmethod
    def load(cls, path: Path) -> Results:
        return cls.read(JsonValue.load(path))

    @property
    def replayed(self) -> Replayed | None:
        """The instance that the run repeats. None: the run is no replay of a counter-example."""
        return replayed_of(self.simulated)

    def chain(self, chain_id: str) -> ChainResult | None:
        return next((chain for chain in self.chains if chain.id == chain_id), None)

    def in_report_order(self, replayed: Replayed | None) -> list[ChainResult]:
        """Returns the chains: that of a replayed counter-example, then the highest priority first,
        and at equal priority the shortest deadline first."""
        first = replayed.chain if replayed else None
        return sorted(
            self.chains, key=lambda chain: (chain.id != first, -chain.priority, chain.deadline_ms)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "rclrt_results": RESULTS_VERSION,
            "application": self.application,
            "executor": self.executor,
            "executor_label": self.executor_label,
            "started_utc": self.started_utc,
            "duration_s": self.duration_s,
            "rounds": self.rounds,
            "t0_monotonic_ns": self.t0_monotonic_ns,
            "context": self.context,
            "chains": [chain.to_json() for chain in self.chains],
            "callbacks": [callback.to_json() for callback in self.callbacks],
            "threads": self.threads,
            **({"hops": [hop.to_json() for hop in self.hops]} if self.hops else {}),
            **({"hosts": [host.to_json() for host in self.hosts]} if self.hosts else {}),
            **(
                {"cause_effect_chains": [each.to_json() for each in self.cause_effect_chains]}
                if self.cause_effect_chains
                else {}
            ),
            **({"simulated": self.simulated} if self.simulated else {}),
            **({"streamed": self.streamed.to_json()} if self.streamed else {}),
            **({"ended": self.ended} if self.ended else {}),
        }


def read_application(json: JsonValue) -> dict[str, Any]:
    for key in ("name", "file", "sha256"):
        json.get(key).text()
    if "priorities_file" in json.object():
        json.get("priorities_file").text()
        json.get("priorities_sha256").text()
    return json.object()
