# SPDX-License-Identifier: Apache-2.0
"""Writes the traces of hosts with clocks of their own (Common Trace Format 1.8), from events that a
test makes or that were recorded on one machine."""

from __future__ import annotations

import json
import struct
import subprocess
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MS = 1_000_000
SECOND = 1000 * MS
DAY_OF_TEST_NS = 1_800_000_000 * SECOND
"""The time of day, 2027-01-15, at time 0 of the true clock."""
_TEXTS = ("node_name", "namespace", "topic_name", "service_name", "name", "kind", "cpus")
_HEADER = """/* CTF 1.8 */
typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
trace {{ major = 1; minor = 8; byte_order = le; uuid = "{trace}";
  packet.header := struct {{ u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }}; }};
env {{ {hostname} domain = "ust"; trace_name = "{session}"; }};
clock {{ name = "monotonic"; {boot} freq = 1000000000; {offset} }};
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := time;
stream {{ id = 0; event.header := struct {{ u16 id; time timestamp; }};
  packet.context := struct {{ u64 content_size; u64 packet_size; u64 packet_seq_num; u32 cpu_id; }};
  event.context := struct {{ u32 vpid; u32 vtid; string procname; {context} }}; }};
"""


@dataclass(frozen=True)
class HostClock:
    """A clock that is wrong: it shows other times than the true clock, which is that of this
    machine. Times are in nanoseconds."""

    offset_ns: int = 0
    """CLOCK_MONOTONIC of the host less the true one, at time `since_ns`."""
    drift_ppm: float = 0.0
    since_ns: int = 0
    wrong_by_ns: int = 0
    """The time of day of the host less the true one, at time `since_ns`."""
    slew_ppm: float = 0.0
    slewed_ns: tuple[int, int] = (0, 0)
    """Begin and end of the time in which NTP slews the clock, on the true clock."""

    def monotonic(self, true_ns: int) -> int:
        begin, end = self.slewed_ns
        slewed = min(max(true_ns, begin), end) - begin
        gained = (true_ns - self.since_ns) * self.drift_ppm / 1e6 + slewed * self.slew_ppm / 1e6
        return true_ns + self.offset_ns + round(gained)

    def true(self, monotonic_ns: int) -> int:
        """Returns the true time at which the clock shows this time."""
        true_ns = monotonic_ns - self.offset_ns
        for _ in range(8):
            true_ns += monotonic_ns - self.monotonic(true_ns)
        return true_ns

    @property
    def of_day_ns(self) -> int:
        """The time of day less CLOCK_MONOTONIC. It changes only if the clock is set."""
        return DAY_OF_TEST_NS + self.wrong_by_ns - self.offset_ns


@dataclass
class Event:
    """An event at a true time."""

    name: str
    time: int
    pid: int
    tid: int
    thread: str
    fields: dict[str, int | str]
    pid_ns: int = 0


@dataclass
class HostTrace:
    """The trace of one host."""

    name: str = "left"
    boot: str = ""
    """Empty: the trace does not state it."""
    clock: HostClock = field(default_factory=HostClock)
    states_day: bool = True
    has_namespaces: bool = False
    events: list[Event] = field(default_factory=list)

    def save(self, directory: Path) -> Path:
        directory.mkdir(parents=True)
        identity = uuid.uuid4()
        kinds: dict[str, tuple[int, tuple[str, ...]]] = {}
        content = b""
        for event in sorted(self.events, key=lambda each: each.time):
            number, _ = kinds.setdefault(event.name, (len(kinds), tuple(event.fields)))
            time_ns = self.clock.monotonic(event.time)
            content += struct.pack("<HQII", number, time_ns, event.pid, event.tid)
            content += event.thread.encode() + b"\0"
            if self.has_namespaces:
                content += struct.pack("<Q", event.pid_ns)
            for name, value in event.fields.items():
                if isinstance(value, str):
                    content += value.encode() + b"\0"
                    continue
                is_time = event.name == "rclrt:callback_release" and name != "callback" and value
                number_of = self.clock.monotonic(value) if is_time else value
                content += struct.pack("<Q", number_of & (2**64 - 1))
        header = _HEADER.format(
            trace=identity,
            hostname=f'hostname = "{self.name}";' if self.name else "",
            session=directory.name,
            boot=f'uuid = "{self.boot}";' if self.boot else "",
            offset=f"offset = {self.clock.of_day_ns};" if self.states_day else "",
            context="u64 pid_ns;" if self.has_namespaces else "",
        )
        declared = "".join(
            f'event {{ name = "{name}"; id = {number}; stream_id = 0; fields := struct {{ '
            + " ".join(f"{'string' if each in _TEXTS else 'u64'} {each};" for each in fields)
            + " }; };\n"
            for name, (number, fields) in kinds.items()
        )
        (directory / "metadata").write_text(header + declared)
        packet = struct.pack("<I16sIQ", 0xC1FC1FC1, identity.bytes, 0, 0)
        bits = 8 * (len(packet) + 28 + len(content))
        packet += struct.pack("<QQQI", bits, bits, 0, 0)
        (directory / "stream").write_bytes(packet + content)
        return directory


def recorded(dump: str, trace: Path) -> list[Event]:
    """Returns the events of a recorded trace; `dump`: the program event_dump."""
    done = subprocess.run([dump, str(trace)], capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        data: dict[str, Any] = json.loads(line)
        found.append(
            Event(
                data["name"], data["time"], data["pid"], data["tid"], data["thread"], data["fields"]
            )
        )
    return found


def pids_of(events: Iterable[Event], nodes: Iterable[str]) -> set[int]:
    """Returns the processes with one of the nodes."""
    names = set(nodes)
    return {
        each.pid
        for each in events
        if each.name == "ros2:rcl_node_init" and each.fields["node_name"] in names
    }


def shift_stamps(events: list[Event], clock: HostClock, pids: set[int]) -> None:
    """Makes the source timestamps of what the processes published those of another clock."""
    published = {
        each.fields["timestamp"]
        for each in events
        if each.name == "ros2:rmw_publish" and each.pid in pids
    }

    def shifted(stamp: int | str) -> int:
        return int(stamp) + clock.wrong_by_ns

    for each in events:
        for name in ("timestamp", "source_timestamp"):
            if each.fields.get(name) in published and each.name.startswith("ros2:rmw_"):
                each.fields[name] = shifted(each.fields[name])


@dataclass
class Robot:
    """Events of nodes on hosts, with true times in nanoseconds. Small numbers serve as pointers."""

    trace: HostTrace
    pid: int = 100
    thread: int = 0
    """The number of the thread that runs callbacks now."""

    def _add(self, time_ns: int, name: str, **fields: int | str) -> None:
        tid = self.pid + self.thread
        self.trace.events.append(Event(name, time_ns, self.pid, tid, "robot", dict(fields)))

    def node(self, handle: int, name: str) -> None:
        self._add(SECOND, "ros2:rcl_node_init", node_handle=handle, node_name=name, namespace="/")

    def publisher(self, handle: int, node: int, topic: str) -> None:
        self._add(
            SECOND, "ros2:rcl_publisher_init", publisher_handle=handle, node_handle=node,
            rmw_publisher_handle=handle + 1000, queue_depth=1, topic_name=topic,
        )  # fmt: skip

    def subscription(self, handle: int, node: int, topic: str, callback: int) -> None:
        self._add(
            SECOND, "ros2:rcl_subscription_init", subscription_handle=handle, node_handle=node,
            rmw_subscription_handle=handle + 1000, queue_depth=1, topic_name=topic,
        )  # fmt: skip
        self._add(
            SECOND, "ros2:rclcpp_subscription_init", subscription_handle=handle,
            subscription=handle + 2000,
        )  # fmt: skip
        self._add(
            SECOND, "ros2:rclcpp_subscription_callback_added", subscription=handle + 2000,
            callback=callback,
        )  # fmt: skip

    def timer(self, handle: int, node: int, period_ns: int, callback: int) -> None:
        self._add(SECOND, "ros2:rcl_timer_init", timer_handle=handle, period=period_ns)
        self._add(
            SECOND, "ros2:rclcpp_timer_callback_added", timer_handle=handle, callback=callback
        )
        self._add(SECOND, "ros2:rclcpp_timer_link_node", timer_handle=handle, node_handle=node)

    def run(
        self, callback: int, start_ns: int, end_ns: int, publisher: int = 0, stamp: int = 0
    ) -> None:
        """A run that publishes with its last instruction."""
        self._add(start_ns, "ros2:callback_start", callback=callback, is_intra_process=0)
        if publisher:
            self._add(
                end_ns, "ros2:rmw_publish", rmw_publisher_handle=publisher + 1000, timestamp=stamp
            )
        self._add(end_ns, "ros2:callback_end", callback=callback)

    def take(self, subscription: int, at_ns: int, stamp: int) -> None:
        self._add(
            at_ns, "ros2:rmw_take", rmw_subscription_handle=subscription + 1000,
            source_timestamp=stamp, taken=1,
        )  # fmt: skip
