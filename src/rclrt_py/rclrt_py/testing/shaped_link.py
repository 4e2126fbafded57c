# SPDX-License-Identifier: Apache-2.0
"""An application on two hosts with the kernel's token bucket between them: bounds, the departures
that follow from the measured arrivals, and what was observed.

The time of a message from its release to the end of the callback that takes it has parts: until its
packets come to the queue, in the queue, and from there to the end. The bound of the link is about
the second one. It holds if the packets keep to the arrivals of the model, and if the shaper sends
when it has tokens. Both are measured: Outcome has the least jitter and burst that the packets keep
to, the link's bound for these, and by how much the shaper was late.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclrt_py.agents.connections import hosts_environment
from rclrt_py.bounds.machine import STATISTICS, OverheadsFile
from rclrt_py.bounds.predicted import Predictions
from rclrt_py.native import analysis, load_application
from rclrt_py.runs.run_data import Run
from rclrt_py.testing.command import command, environment
from rclrt_py.testing.link_tap import Packet, tapped
from rclrt_py.testing.namespaces import HOSTS, TwoHosts
from rclrt_py.testing.token_bucket import departures, least_burst_bytes, least_jitter_ns
from rclrt_py.testing.waiting import GENEROUS_S
from rclrt_py.testing.wire_messages import WireMessage, messages_of

if TYPE_CHECKING:
    from rclrt_analysis import LinkBound, Machine
    from rclrt_model import Application

LEFT, RIGHT = HOSTS
EXECUTOR = "preemptive"
_LIMIT_BYTES = 4_000_000
_FRAMING_BYTES = 14
"""Bytes that `tbf` counts of each packet besides IP: the Ethernet header."""
_FAST_DDS = {
    "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
    "RMW_FASTRTPS_PUBLICATION_MODE": "SYNCHRONOUS",
}
"""Packets are read as its own, and are in the queue before the callback that sends ends."""
ASSUMED_OVERHEADS: dict[str, Any] = {
    "rclrt": 1,
    "kind": "overheads",
    "executors": {"preemptive": {"dispatch_us": 200, "timer_lateness_us": 500}},
    "hop_us": {"intra_process": {"min": 0, "max": 500}, "same_host": {"min": 0, "max": 500}},
}
"""For tests: what a machine may take, not measured."""


class TooBusy(Exception):
    """The machine had so much to do that the hosts could not begin at one time."""


@dataclass(frozen=True)
class Stream:
    """A topic with its sender on the left and its receiver on the right."""

    name: str
    bytes: int
    period_ms: float
    priority: int

    @property
    def period_ns(self) -> int:
        return round(self.period_ms * 1e6)


@dataclass(frozen=True)
class ShapedLink:
    """A link and the streams that it takes."""

    rate_kbit: int
    burst_bytes: int
    streams: tuple[Stream, ...]
    cross_kbit: int = 100
    """Rate of all other packets: heartbeats and discovery."""
    cross_bytes: int = 3000
    access_ms: float = 0.5
    cpus: tuple[int, int] = (0, 1)

    def yaml(self, jitters_ns: Sequence[int] = (), cross_bytes: int | None = None) -> str:
        """Returns the application. With `jitters_ns`, its senders are events with these jitters
        that take no time, and the shaper is never late: a model of arrivals that were measured."""
        callbacks, chains, topics = [], [], []
        for number, each in enumerate(self.streams):
            trigger = f"timer: {{period_ms: {each.period_ms}, offset_ms: 0}}, wcet_ms: 0.1"
            if jitters_ns:
                trigger = (
                    f"event: {{period_ms: {each.period_ms}, min_interval_ms: 0.001, "
                    f"jitter_ms: {jitters_ns[number] / 1e6:.6f}}}, wcet_ms: 0"
                )
            name = each.name
            callbacks += [
                f"  - {{id: send_{name}, node: eye, {trigger}, publishes: [{name}]}}",
                f"  - {{id: take_{name}, node: hand, subscription: {{topic: {name}}}, "
                "wcet_ms: 0.2}",
            ]
            chains.append(
                f"  - {{id: {name}, callbacks: [send_{name}, take_{name}], "
                f"priority: {each.priority}, deadline_ms: {each.period_ms}}}"
            )
            topics.append(f"  - {{name: {name}, size_bytes: {each.bytes}}}")
        burst = self.cross_bytes if cross_bytes is None else cross_bytes
        access = 0 if jitters_ns else self.access_ms
        lines = [
            *("rclrt: 1", "name: shaped"),
            "hosts: [{name: left, address: 10.99.0.1}, {name: right, address: 10.99.0.2}]",
            "links:",
            "  - {name: cable, between: [left, right], rate_kbit: 10000000, "
            f"framing_bytes: {_FRAMING_BYTES}, access_ms: {access},",
            f"     shaper: {{rate_kbit: {self.rate_kbit}, burst_bytes: {self.burst_bytes}}},",
            f"     cross_traffic: [{{from: left, rate_kbit: {self.cross_kbit}, "
            f"burst_bytes: {burst}}}]}}",
            "executors:",
            f"  - {{name: seeing, host: left, cpus: [{self.cpus[0]}]}}",
            f"  - {{name: moving, host: right, cpus: [{self.cpus[1]}]}}",
            "nodes: [{name: eye, executor: seeing}, {name: hand, executor: moving}]",
            *("callbacks:", *callbacks, "chains:", *chains, "topics:", *topics),
            "threads: [{name: middleware, policy: fifo, priority: 96}]",
        ]
        return "\n".join(lines) + "\n"

    def bound(self, directory: Path, statistic: str) -> LinkBound:
        """Returns the bound for the application, with the overheads in the directory."""
        application = self._loaded(directory, self.yaml())
        file = OverheadsFile(directory / "overheads.json", statistic)
        return _forth(application, file.machine(application, EXECUTOR))

    def bound_of(self, directory: Path, jitters_ns: Sequence[int], cross_bytes: int) -> LinkBound:
        """Returns the bound of the link for arrivals that were measured."""
        application = self._loaded(directory, self.yaml(jitters_ns, cross_bytes))
        return _forth(application, analysis().Machine.unmeasured())

    def _loaded(self, directory: Path, text: str) -> Application:
        file = directory / "link.yaml"
        file.write_text(text, encoding="utf-8")
        return load_application(file)


def _forth(application: Application, machine: Machine) -> LinkBound:
    """Returns the bound of the direction from the left to the right."""
    bounds = analysis().link_bounds(application, EXECUTOR, machine.overheads)
    found: LinkBound
    (found,) = (each for each in bounds if application.hosts[each.from_].name == LEFT)
    return found


@dataclass(frozen=True)
class Passage:
    """A message on its way. Nanoseconds of CLOCK_MONOTONIC."""

    stream: str
    instance: int
    number: int
    """The index of its last packet."""
    release: int
    sent: int
    sender_end: int
    """When the callback that sent it ended."""
    first: int
    """When its first packet came to the queue."""
    last: int
    """When its last packet did."""
    computed: int
    """When its last packet leaves an ideal shaper that gets all packets when the real one did."""
    left: int
    """When its last packet left the real shaper."""
    ready: int
    end: int

    @property
    def computed_delay(self) -> int:
        """From the last packet's arrival: the theorem is about packets."""
        return self.computed - self.last

    @property
    def link_delay(self) -> int:
        return self.left - self.last

    @property
    def shaper_late(self) -> int:
        return self.left - self.computed

    @property
    def response(self) -> int:
        return self.end - self.release


@dataclass(frozen=True)
class Outcome:
    """A run, with all packets that left the host that sends."""

    link: ShapedLink
    run: Run
    packets: list[Packet]
    computed: list[int]
    """Departures of the packets from an ideal shaper."""
    begin: int
    """The first packet that counts: it found the shaper idle and the bucket full, before any
    message of the run."""
    passages: list[Passage]
    bound_ns: int | None
    """The proved bound on the link's delay. None: the link is saturated."""
    buffer_bytes: int | None
    """The proved bound on the bytes that wait. None: the link is saturated."""
    chain_bounds_ns: dict[str, int]
    sender_bounds_ns: dict[str, int]
    """Bounds of the callbacks that send, from their releases."""
    jitters_ns: dict[str, int]
    """The least jitters that the messages kept to."""
    cross_bytes: int
    """The least burst that the other packets kept to."""
    bound_of_run_ns: int | None
    """The bound on the delay for these jitters and this burst, and a shaper that is never late."""

    def of(self, stream: str) -> list[Passage]:
        return [each for each in self.passages if each.stream == stream]


def run_over(
    link: ShapedLink,
    directory: Path,
    seconds: float,
    overheads: Path | None = None,
    statistic: str = STATISTICS[0],
) -> Outcome:
    """Runs the application on two hosts, with bounds for these overheads. Throws NotPermittedHere,
    PacketsLost, TooBusy, or RuntimeError if the run fails."""
    app, out = directory / "app.yaml", directory / "out"
    app.write_text(link.yaml(), encoding="utf-8")
    text = overheads.read_text() if overheads else json.dumps(ASSUMED_OVERHEADS)
    (directory / "overheads.json").write_text(text, encoding="utf-8")
    with TwoHosts() as hosts:
        hosts.shape(LEFT, link.rate_kbit, link.burst_bytes, _LIMIT_BYTES)
        with tapped(hosts, LEFT) as packets:
            done = subprocess.run(
                hosts.command(LEFT, _command(hosts, app, out, seconds, directory, statistic)),
                env=hosts_environment(environment()) | _FAST_DDS,
                capture_output=True,
                text=True,
                timeout=GENEROUS_S,
                check=False,
            )
    if "too late" in done.stderr and done.returncode == 1:
        raise TooBusy(done.stderr.strip().splitlines()[-1])
    if done.returncode not in (0, 3):
        raise RuntimeError(f"rclrt run ended with {done.returncode}: {done.stderr}")
    return _outcome(link, Run.load(out), packets, directory, statistic)


def _command(
    hosts: TwoHosts, app: Path, out: Path, seconds: float, directory: Path, statistic: str
) -> list[str]:
    """Returns the command of the run. The agent's connection does not take the link."""
    agent = shlex.join(hosts.command(RIGHT, command("agent")))
    more = ["--overheads", str(directory / "overheads.json"), "--overhead-percentile", statistic]
    more += ["--agent", f"{RIGHT}={agent}"]
    return command(*("run", app, "--executor", EXECUTOR, "--seconds", seconds, "--out", out), *more)


def _outcome(
    link: ShapedLink, run: Run, packets: list[Packet], directory: Path, statistic: str
) -> Outcome:
    shaped = departures(
        [(each.arrived, each.size) for each in packets],
        link.rate_kbit * 1000,
        link.burst_bytes,
    )
    messages = messages_of(packets)
    if not messages:
        raise RuntimeError("no message of the application was seen on the link")
    first = messages[0].packets[0]
    begin = max(number for number in range(first + 1) if shaped[number].found_it_idle)
    computed = [each.at_ns for each in shaped]
    own = {number for each in messages for number in each.packets}
    others = [
        (each.arrived, each.size)
        for number, each in enumerate(packets)
        if number >= begin and number not in own
    ]
    jitters = {
        each.name: least_jitter_ns(
            [_span(packets, one) for one in messages if one.sender == 2 * number], each.period_ns
        )
        for number, each in enumerate(link.streams)
    }
    cross_bytes = least_burst_bytes(others, link.cross_kbit * 1000)
    bound = link.bound(directory, statistic)
    of_run = link.bound_of(directory, list(jitters.values()), cross_bytes)
    predicted = Predictions.load(run.directory)
    assert predicted is not None
    chains = predicted.executors[EXECUTOR].chains
    return Outcome(
        link=link,
        run=run,
        packets=packets,
        computed=computed,
        begin=begin,
        passages=_passages(link, run, packets, computed, messages),
        bound_ns=bound.delay_ns,
        buffer_bytes=bound.backlog_bytes,
        chain_bounds_ns={
            name: each.bound_ns for name, each in chains.items() if each.bound_ns is not None
        },
        sender_bounds_ns={
            name: round(each.step_bounds_ms[0] * 1e6)
            for name, each in chains.items()
            if each.step_bounds_ms[0] is not None
        },
        jitters_ns=jitters,
        cross_bytes=cross_bytes,
        bound_of_run_ns=of_run.delay_ns,
    )


def _span(packets: Sequence[Packet], message: WireMessage) -> tuple[int, int]:
    return packets[message.packets[0]].arrived, packets[message.packets[-1]].arrived


def _passages(
    link: ShapedLink,
    run: Run,
    packets: Sequence[Packet],
    computed: Sequence[int],
    messages: Sequence[WireMessage],
) -> list[Passage]:
    """Returns the messages that were taken, by their instances of chains."""
    names = [each.name for each in link.streams]
    by_token = {
        (names[token.chain], token.instance): (one, token)
        for one in messages
        for token in one.tokens
    }
    rows = list(run.instance_rows())
    epoch = _epoch(rows, by_token)
    senders = {(row.callback, row.tokens): row.end for row in rows if row.outcome == "ran"}
    result = []
    for row in rows:
        name, _, instance = row.tokens.partition(":")
        if row.callback != f"take_{name}" or row.outcome != "ran":
            continue
        found = by_token.get((name, int(instance)))
        sender_end = senders.get((f"send_{name}", row.tokens))
        if found is None or sender_end is None:
            continue
        message, token = found
        first, last = _span(packets, message)
        result.append(
            Passage(
                stream=name,
                instance=token.instance,
                number=message.packets[-1],
                release=token.release,
                sent=message.sent,
                sender_end=epoch + sender_end,
                first=first,
                last=last,
                computed=computed[message.packets[-1]],
                left=packets[message.packets[-1]].left,
                ready=epoch + row.ready,
                end=epoch + row.end,
            )
        )
    return result


def _epoch(rows: Sequence[Any], by_token: dict[tuple[str, int], Any]) -> int:
    """Returns the begin of the run by CLOCK_MONOTONIC, from a release that is known in both."""
    for row in rows:
        name, _, instance = row.tokens.partition(":")
        if row.callback == f"send_{name}" and (name, int(instance)) in by_token:
            release: int = by_token[name, int(instance)][1].release
            return release - int(row.release)
    raise RuntimeError("no message on the link is of an instance of the run")
