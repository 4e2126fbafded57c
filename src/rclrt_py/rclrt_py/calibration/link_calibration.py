# SPDX-License-Identifier: Apache-2.0
"""Measures the link to another host: runs the application of link_application.py on both."""

from __future__ import annotations

import json
import math
import os
import re
import socket
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rclrt_py.agents.connections import Agent, connected, hosts_environment
from rclrt_py.calibration.link_application import (
    DIRECTIONS,
    FIRST_SIZES,
    SIZES,
    Cycle,
    over_link,
    receiver,
)
from rclrt_py.calibration.link_counts import message_counts
from rclrt_py.calibration.link_fit import LinkFit, SizeDelays, fitted
from rclrt_py.errors import BadInput, RunFailed
from rclrt_py.processes.runner import KEEP_ALL, run_child, runner_command
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.run_data import RESULTS, Run
from rclrt_py.terminal.progress import Progress
from rclrt_py.text import exact

EXECUTOR = "preemptive"
FIRST_SECONDS = 3.0
FIRST_GAP_MS = 500.0
GAP_OF_DELAY = 2.5
"""The gap after the largest message, as a multiple of its shortest delay: the bucket of a shaper
fills meanwhile."""
LEAST_CYCLES = 10
_HIGHEST_KBIT = 1_000_000_000
_LINE_KBIT = 1_000_000
"""Rate of a line behind a shaper, if it is too high to be measured: Gigabit Ethernet."""


def own_name(peers: Collection[str]) -> str:
    """Returns a name of this host that an app.yaml permits, and that is none of the other ones."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", socket.gethostname()).strip("_")[:40]
    if not name or name[0].isdigit():
        name = f"host_{name}".rstrip("_")
    while name in peers:
        name += "_here"
    return name


@dataclass
class LinkCalibration:
    """The runs over one link, and what they found."""

    program: Path
    directory: Path
    agent: Agent
    token: str | None
    seconds: float
    stop: StopSignals
    progress: Progress
    here: str
    name: str = "link"
    """The name of the entry of `links`."""
    delays: dict[str, list[SizeDelays]] = field(default_factory=dict)
    clock: str = ""
    started: str = ""
    context: dict[str, Any] = field(default_factory=dict)

    def measure(self) -> bool:
        """Measures the link in both directions. Returns false if the user stopped it. Throws
        RunFailed if the link is too slow for the time, or if no message of a size came."""
        first = self._run("first messages", Cycle(FIRST_SIZES, FIRST_GAP_MS), FIRST_SECONDS)
        if first is None:
            return False
        longest_ms = max(
            hop.best for (_, size), hop in _hops(first, FIRST_SIZES).items() if size == SIZES[-1]
        )
        cycle = Cycle(SIZES, GAP_OF_DELAY * longest_ms)
        needed_s = math.ceil(LEAST_CYCLES * cycle.period_ms / 1e3)
        if self.seconds < needed_s:
            raise RunFailed(
                f"a message of {SIZES[-1]} bytes takes {longest_ms:.1f} ms on this link\n"
                f"  fix: --seconds {needed_s}, for {LEAST_CYCLES} messages of each size"
            )
        run = self._run("all sizes", cycle, self.seconds)
        if run is None:
            return False
        self._take(run)
        return True

    def _take(self, run: Run) -> None:
        hops = _hops(run, SIZES)
        counts = message_counts(run.instance_rows(), round(run.results.duration_s * 1e9))
        for direction in DIRECTIONS:
            self.delays[direction] = [
                SizeDelays(
                    bytes=size,
                    sent=counts[direction, size].sent,
                    received=counts[direction, size].received,
                    best=hops[direction, size].best,
                    p50=hops[direction, size].p50,
                    p99=hops[direction, size].p99,
                    error=hops[direction, size].error,
                )
                for size in SIZES
            ]
        self.clock = run.results.hosts[1].text
        self.started = run.results.started_utc
        self.context = run.results.context

    def _run(self, name: str, cycle: Cycle, seconds: float) -> Run | None:
        self.progress.step(f"{self.agent.host}, {name}", seconds)
        path, out = self.directory / "link.yaml", self.directory / name.replace(" ", "_")
        path.write_text(json.dumps(over_link(self.here, self.agent.host, cycle)), encoding="utf-8")
        tick = self.progress.tick if self.progress.live else None
        with connected([self.agent], self.token) as sockets:
            files = {host: each.fileno() for host, each in sockets.items()}
            command = runner_command(
                self.program, path, EXECUTOR, seconds, out, False, [], keep=KEEP_ALL, hosts=files
            )
            ended = run_child(
                command,
                self.directory,
                seconds,
                self.stop,
                tick,
                environment=hosts_environment(os.environ),
                files=tuple(files.values()),
            )
        if ended.interrupted or not (out / RESULTS).is_file():
            return None
        run = Run.load(out)
        self.progress.finished(run.results.hosts[1].text)
        return run

    def fits(self) -> dict[str, LinkFit]:
        return {direction: fitted(found) for direction, found in self.delays.items()}

    def to_json(self) -> dict[str, Any]:
        """Returns the document of schemas/link.schema.json."""
        fits = self.fits()
        names = (self.here, self.agent.host)
        return {
            "rclrt": 1,
            "kind": "link",
            "started_utc": self.started,
            "seconds": self.seconds,
            "steal_ms": self.context["steal_ms"],
            "realtime": self.context["realtime"],
            "machine": {
                key: self.context[key]
                for key in ("kernel", "cpu_model", "cpus", "preempt_rt", "ros_distro", "rmw")
            },
            "clock": self.clock,
            "directions": [
                {
                    "from": sent_by,
                    "to": taken_by,
                    "sizes": [each.to_json() for each in self.delays[direction]],
                    **fits[direction].to_json(),
                }
                for direction, (sent_by, taken_by) in zip(
                    DIRECTIONS, (names, names[::-1]), strict=True
                )
            ],
            "link": link_entry(names, list(fits.values()), self.name),
        }


@dataclass(frozen=True)
class _Hop:
    best: float
    p50: float
    p99: float
    error: float


def _hops(run: Run, sizes: Sequence[int]) -> dict[tuple[str, int], _Hop]:
    """Returns the times of the messages of each direction and size. Throws RunFailed if none of a
    size came."""
    by_receiver = {hop.receiver: hop for hop in run.results.hops}
    found = {}
    for direction in DIRECTIONS:
        for size in sizes:
            hop = by_receiver.get(receiver(direction, size))
            if hop is None:
                raise RunFailed(
                    f"no message of {size} bytes arrived ({direction}): a buffer on the way is too "
                    "small for it, or a firewall drops fragments of IP packets"
                )
            time = hop.time
            found[direction, size] = _Hop(time.best, time.p50, time.p99, hop.error_ms)
    return found


def link_entry(
    between: tuple[str, str], fits: Sequence[LinkFit], name: str = "link"
) -> dict[str, Any] | None:
    """Returns the entry of `links` in an app.yaml with what was measured: both directions have the
    lower rate and burst, and the longer times. None: no rate could be measured."""
    rates = [fit.rate_kbit for fit in fits if fit.rate_kbit is not None]
    if not rates:
        return None
    rate = min(_HIGHEST_KBIT, max(1, math.floor(min(rates))))
    entry: dict[str, Any] = {"name": name, "between": list(between), "rate_kbit": rate}
    if any(fit.burst_bytes is not None for fit in fits):
        lines = [fit.line_kbit for fit in fits if fit.line_kbit is not None]
        bursts = [fit.burst_bytes for fit in fits if fit.burst_bytes is not None]
        entry["rate_kbit"] = max(rate, math.floor(min([*lines, _LINE_KBIT])))
        entry["shaper"] = {"rate_kbit": rate, "burst_bytes": min(bursts)}
    least = max(0.0, min(fit.fixed_ms - fit.error_ms for fit in fits))
    most = max(fit.fixed_p99_ms + fit.error_ms for fit in fits)
    entry["min_latency_ms"] = math.floor(least * 1e3) / 1e3
    entry["latency_ms"] = math.ceil(most * 1e3) / 1e3
    entry["access_ms"] = math.ceil(max(fit.access_ms for fit in fits) * 1e3) / 1e3
    entry["framing_bytes"] = 14
    return entry


def entries_yaml(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yields the lines of the entries in an app.yaml."""
    yield "links:"
    for entry in entries:
        yield from _entry_yaml(entry)


def _entry_yaml(entry: dict[str, Any]) -> Iterator[str]:
    mark = "-"
    for key, value in entry.items():
        if isinstance(value, dict):
            text = "{" + ", ".join(f"{name}: {each}" for name, each in value.items()) + "}"
        elif isinstance(value, list):
            text = "[" + ", ".join(value) + "]"
        else:
            text = exact(value) if isinstance(value, float) else str(value)
        yield f"  {mark} {key}: {text}"
        mark = " "


def check_peer(agent: Agent) -> None:
    """Throws BadInput if the name of the other host cannot be one of an app.yaml."""
    if not re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*_?", agent.host):
        raise BadInput(
            f"--peer {agent.host}=...: expected a name of letters, digits and single '_' that does "
            "not begin with a digit"
        )
