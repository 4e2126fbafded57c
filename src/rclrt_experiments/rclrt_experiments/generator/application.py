# SPDX-License-Identifier: Apache-2.0
"""An application made from rules: graph, times, priorities, and the places of its callbacks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.graph import ChainGraph, Kind, draw_graph
from rclrt_experiments.generator.places import Place, draw_places, placed_services
from rclrt_experiments.generator.rules import US_PER_HOUR, Rules
from rclrt_experiments.generator.sampling import (
    Path,
    Segment,
    draw_logical,
    draw_sampling,
    draw_topics,
)
from rclrt_experiments.generator.services import Service, draw_services
from rclrt_experiments.generator.timing import ChainTime, draw_times, split_times


@dataclass(frozen=True)
class Variable:
    """A value that one callback stores and another one reads."""

    name: str
    writer: int
    reader: int


@dataclass(frozen=True)
class Assigned:
    """The work of a callback: a number of iterations of a workload."""

    name: str
    iterations: int


@dataclass(frozen=True)
class Limits:
    """The largest reaction time and data age of a cause-effect chain, in nanoseconds."""

    reaction: int
    age: int


@dataclass(frozen=True)
class GeneratedApplication:
    """All facts that app.yaml, the pictures and the chain file show."""

    rules: Rules
    graph: ChainGraph
    times: list[ChainTime]
    execution_ns: dict[int, int]
    places: dict[int, Place]
    deadlines_ns: list[int]
    offsets_us: dict[int, int]
    message_bytes: dict[str, int]
    grouped: frozenset[int]
    priorities: list[int]
    events: Mapping[int, int] = field(default_factory=dict)
    """The timers of the graph that are events instead, with the seeds of their intervals."""
    workloads: Mapping[int, Assigned] = field(default_factory=dict)
    """The workloads of callbacks. A callback without one uses CPU time."""
    services: Mapping[int, Service] = field(default_factory=dict)
    """Services by their servers, in the order of the chains."""
    paths: list[Path] = field(default_factory=list)
    """The cause-effect chains."""
    limits_ns: list[Limits] = field(default_factory=list)
    """The limits of each of the paths."""
    waits_ns: Mapping[int, int] = field(default_factory=dict)
    """The longest times for which callbacks wait, of those that do."""

    def id_of(self, callback: int) -> str:
        return f"{'s' if self.graph.kinds[callback] is Kind.SYNC else 'c'}{callback}"

    @cached_property
    def order(self) -> list[int]:
        """Returns the callbacks in the order of their numbers."""
        return sorted(self.graph.kinds)

    def steps(self, callback: int) -> Iterator[tuple[str | None, str | None]]:
        """Yields, for each chain of the callback, the topics that it takes and sends."""
        for chain in self.graph.chains_of(callback):
            callbacks = self.graph.chains[chain]
            hop = callbacks.index(callback)
            sent = self.topic(chain, hop)
            if hop == len(callbacks) - 1 and chain in self.newest:
                sent = newest_topic(chain)
            yield self.topic(chain, hop - 1), sent

    def topic(self, chain: int, hop: int) -> str | None:
        """Returns the topic between the callbacks `hop` and `hop` + 1 of the chain. None: one of
        the two does not exist, or the hop is a request to a service or its response."""
        callbacks = self.graph.chains[chain]
        if not 0 <= hop < len(callbacks) - 1 or self.is_service_hop(callbacks, hop):
            return None
        return topic(chain, hop)

    def is_service_hop(self, callbacks: Sequence[int], hop: int) -> bool:
        """Returns whether the hop of a chain is a request or a response."""
        return any(each in self.services for each in callbacks[hop : hop + 2])

    @cached_property
    def served(self) -> dict[int, Service]:
        """Returns the services by their clients."""
        return {service.client: service for service in self.services.values()}

    @cached_property
    def calls(self) -> dict[int, list[int]]:
        """Returns, for each callback that sends requests, the clients that it uses for them."""
        calls: dict[int, list[int]] = {}
        for service in self.services.values():
            calls.setdefault(service.caller, []).append(service.client)
        return calls

    @cached_property
    def sampled_links(self) -> list[tuple[Segment, Segment]]:
        """Returns the segments before and behind each sampled link."""
        return [link for path in self.paths for link in pairwise(path)]

    @cached_property
    def variables(self) -> list[Variable]:
        """Returns the variables of all cause-effect chains."""
        return [
            Variable(
                f"chain{last.chain}_value", self.graph.chains[last.chain][-1], following.reader
            )
            for last, following in self.sampled_links
            if not following.by_topic
        ]

    @cached_property
    def newest(self) -> dict[int, int]:
        """Returns the callbacks that read the newest message of a topic, by the chain at the end of
        which it is published."""
        return {
            last.chain: following.reader
            for last, following in self.sampled_links
            if following.by_topic
        }

    @cached_property
    def logical(self) -> frozenset[int]:
        """Returns the chains with logical execution time."""
        return frozenset(each.chain for path in self.paths for each in path if each.logical)

    def callbacks_of(self, path: Path) -> list[int]:
        """Returns the callbacks of a cause-effect chain."""
        chains = [(self.graph.chains[each.chain], each.reader) for each in path]
        return [each for chain, reader in chains for each in chain[chain.index(reader) :]]

    @cached_property
    def processes(self) -> dict[int, int]:
        """Returns a process for each executor. Each has one of its own, except that a variable is
        in one process: those that it connects have that of the lowest number."""
        processes = {place.executor: place.executor for place in self.places.values()}
        for variable in self.variables:
            ends = {
                processes[self.places[each].executor] for each in (variable.writer, variable.reader)
            }
            processes.update((n, min(ends)) for n, own in processes.items() if own in ends)
        return processes

    def rate(self, callback: int) -> Decimal:
        """Returns the runs per second. A sync or a timer runs once for all of its chains."""
        rates = [
            Decimal(1_000_000) / self.times[n].period_us for n in self.graph.chains_of(callback)
        ]
        return (
            sum(rates, Decimal(0))
            if self.graph.kinds[callback] is Kind.SUBSCRIPTION
            else min(rates)
        )

    def load(self, executor: int | None = None) -> Decimal:
        """Returns the utilisation of one executor, or of all."""
        return sum(
            (
                self.rate(callback) * self.execution_ns[callback] / 1_000_000_000
                for callback, place in self.places.items()
                if executor in (None, place.executor)
            ),
            Decimal(0),
        )

    def cpus_of(self, executor: int) -> tuple[int, ...]:
        cpus = self.rules.cpus
        count = self.rules.cpus_per_executor if cpus else 0
        return tuple(sorted(cpus[(executor + i) % len(cpus)] for i in range(count)))

    def period_ns(self, callback: int) -> int:
        """Returns the time between two releases of the first chain through this callback,
        in nanoseconds: the period of its timer or event, or the shortest interval of an event
        without jitter."""
        return self.times[self.graph.chains_of(callback)[0]].period_us * 1000

    def jitter_ns(self, event: int) -> int:
        """Returns how much later than its nominal time an event may come, at most an hour."""
        return min(int(self.period_ns(event) * self.rules.event_jitter), US_PER_HOUR * 1000)

    def min_interval_ns(self, event: int) -> int:
        """Returns the shortest time from one release of an event to the next."""
        period_ns, jitter_ns = self.period_ns(event), self.jitter_ns(event)
        return max(period_ns - jitter_ns, period_ns // 10, 1000) if jitter_ns else period_ns

    def max_interval_ns(self, event: int) -> int:
        """Returns the longest time from one release of an event to the next, without jitter at most
        an hour."""
        period_ns, jitter_ns = self.period_ns(event), self.jitter_ns(event)
        if jitter_ns:
            return period_ns + jitter_ns
        return min(int(period_ns * self.rules.max_event_interval), US_PER_HOUR * 1000)

    @property
    def hyperperiod_us(self) -> int:
        return math.lcm(*(time.period_us for time in self.times))

    @property
    def duration_us(self) -> int:
        """Returns how long the application must run by its rules."""
        rules = self.rules
        if rules.hyperperiod_count == 0:
            return rules.max_duration_us
        return min(rules.hyperperiod_count * self.hyperperiod_us, rules.max_duration_us)


def topic(chain: int, hop: int) -> str:
    """Returns the topic of an edge. Each edge of each chain has a topic of its own."""
    return f"chain{chain}_hop{hop}"


def newest_topic(chain: int) -> str:
    """Returns the topic at the end of a chain, of which a callback reads the newest message."""
    return f"chain{chain}_newest"


def draw_application(
    rules: Rules, given: Sequence[ChainTime] | None = None, attempt: int = 0
) -> GeneratedApplication:
    """Draws an application by these rules. `given` replaces the drawn times of the chains; None:
    they are drawn.

    Each stage has its own sequence of random numbers, so a rule changes only its own stage. Another
    `attempt` with the same rules draws other times. Throws Infeasible if the rules allow no such
    application.
    """
    seed = rules.random_seed
    sampled = draw_sampling(
        draw_graph(rules, Draws(seed, "graph")),
        rules.sample_p,
        Draws(seed, "sampling"),
        shortest=rules.shortest_path,
    )
    graph = sampled.graph
    stream = Draws(seed, f"times {attempt}" if attempt else "times")
    times = draw_times(rules, graph, stream, given, sampled.drawn)
    timers = [callback for callback in sorted(graph.kinds) if graph.kinds[callback] is Kind.TIMER]
    sources = Draws(seed, "events")
    events = {timer: sources.index(10**9) for timer in timers if sources.chance(rules.event_p)}
    phases = Draws(seed, "offsets")
    offsets = {}
    for timer in timers if rules.offsets != "unstated" else ():
        period_us = times[graph.chains_of(timer)[0]].period_us
        offsets[timer] = phases.index(period_us) if rules.offsets == "random" else 0
    services = draw_services(graph, rules.service_p, Draws(seed, "services"))
    execution_ns = split_times(graph, times)
    waits_ns = _draw_waits(rules, graph, times, Draws(seed, "waits"))
    application = GeneratedApplication(
        rules=rules,
        graph=graph,
        times=times,
        execution_ns=execution_ns,
        places=placed_services(draw_places(rules, graph, Draws(seed, "places")), services),
        deadlines_ns=_draw_deadlines(rules, times, Draws(seed, "deadlines")),
        offsets_us={timer: offset for timer, offset in offsets.items() if timer not in events},
        message_bytes=_draw_sizes(rules, graph, services, Draws(seed, "messages")),
        grouped=_draw_groups(rules, graph, Draws(seed, "groups")),
        priorities=_priorities(rules, times),
        events=events,
        services=services,
        paths=draw_topics(
            draw_logical(sampled.paths, rules.let_p, Draws(seed, "logical")),
            rules.topic_p,
            Draws(seed, "newest"),
        ),
        waits_ns={each: ns for each, ns in waits_ns.items() if execution_ns[each] > 0},
    )
    return replace(
        application, limits_ns=[_limits(application, path) for path in application.paths]
    )


def _limits(application: GeneratedApplication, path: Path) -> Limits:
    """Returns the limits that hold if each segment of a cause-effect chain meets its deadline."""
    roots = [application.graph.chains[each.chain][0] for each in path]
    waits_ns = [
        application.max_interval_ns(root)
        if root in application.events
        else application.period_ns(root)
        for root in roots
    ]
    total_ns = sum(waits_ns) + sum(application.deadlines_ns[each.chain] for each in path)
    source_ns = waits_ns[0] if roots[0] in application.events else 0
    most_ns = US_PER_HOUR * 1000
    return Limits(min(total_ns - source_ns, most_ns), min(total_ns - waits_ns[-1], most_ns))


def _draw_waits(
    rules: Rules, graph: ChainGraph, times: list[ChainTime], draws: Draws
) -> dict[int, int]:
    """Draws which callbacks wait, and for how long."""
    waits = {}
    for callback in sorted(graph.kinds):
        if draws.chance(rules.wait_p):
            period_ns = times[graph.chains_of(callback)[0]].period_us * 1000
            longest_ns = min(int(period_ns * rules.max_wait), US_PER_HOUR * 1000)
            waits[callback] = 1 + draws.index(longest_ns) if longest_ns > 0 else 0
    return {callback: wait_ns for callback, wait_ns in waits.items() if wait_ns > 0}


def _priorities(rules: Rules, times: list[ChainTime]) -> list[int]:
    """Returns the priorities of the chains, by the rule `priorities`. Either a shorter period gets
    a higher priority and, at equal periods, the lower chain number; or chain 0 has priority 1, and
    all others have 0."""
    if rules.priorities == "chain_0":
        return [1] + [0] * (len(times) - 1)
    ranked = sorted(range(len(times)), key=lambda n: (times[n].period_us, n))
    return [len(times) - ranked.index(number) for number in range(len(times))]


def _draw_deadlines(rules: Rules, times: list[ChainTime], draws: Draws) -> list[int]:
    low, high = float(rules.min_deadline), float(rules.max_deadline)
    return [max(1, round(time.period_us * draws.between(low, high))) * 1000 for time in times]


def _draw_sizes(
    rules: Rules, graph: ChainGraph, services: Mapping[int, Service], draws: Draws
) -> dict[str, int]:
    """Draws the message size of each topic, in bytes. Requests and responses of services also
    consume a random number, so that services do not change the sizes of other topics."""
    low, high = rules.min_message_bytes, rules.max_message_bytes
    sizes = {
        edge: low + draws.index(high - low + 1) for edge in (graph.edges() if high > 0 else ())
    }
    return {
        topic(edge.chain, edge.hop): size
        for edge, size in sizes.items()
        if edge.source not in services and edge.target not in services
    }


def _draw_groups(rules: Rules, graph: ChainGraph, draws: Draws) -> frozenset[int]:
    return frozenset(each for each in sorted(graph.kinds) if draws.chance(rules.group_p))
