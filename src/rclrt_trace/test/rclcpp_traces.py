# SPDX-License-Identifier: Apache-2.0
"""Writes traces of nodes of rclcpp (Common Trace Format 1.8), as LTTng writes them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

UUID = bytes(range(16))
EVENTS = {
    "ros2:rcl_node_init": ("u64 node_handle;", "string node_name;", "string namespace;"),
    "ros2:rcl_timer_init": ("u64 timer_handle;", "u64 period;"),
    "ros2:rclcpp_timer_callback_added": ("u64 timer_handle;", "u64 callback;"),
    "ros2:rclcpp_timer_link_node": ("u64 timer_handle;", "u64 node_handle;"),
    "ros2:callback_start": ("u64 callback;", "u64 is_intra_process;"),
    "ros2:callback_end": ("u64 callback;",),
}
"""The fields of each event, in the order in which they are written."""
_NUMBERS = {name: number for number, name in enumerate(EVENTS)}
_HEADER = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
  packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { hostname = "robot"; };
clock { name = "monotonic"; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time;
stream { id = 0; event.header := struct { u8 id; time timestamp; };
  packet.context := struct { u64 content_size; u64 packet_size; u64 packet_seq_num; u32 cpu_id; };
  event.context := struct { u32 vpid; u32 vtid; string procname; }; };
"""
MS = 1_000_000


@dataclass
class RclcppTrace:
    """The events of one process. Times are in ms; a callback has the number of its timer."""

    pid: int = 100
    _events: list[tuple[int, int, bytes]] = field(default_factory=list)
    """Time in ns, CPU and content of each."""

    def node(self, handle: int, name: str) -> None:
        self._add(0, 0, 0, "ros2:rcl_node_init", handle, name, "/")

    def timer(self, number: int, node: int, period_ms: int) -> None:
        self._add(0, 0, 0, "ros2:rcl_timer_init", number, period_ms * MS)
        self._add(0, 0, 0, "ros2:rclcpp_timer_callback_added", number, number)
        self._add(0, 0, 0, "ros2:rclcpp_timer_link_node", number, node)

    def run(self, thread: int, callback: int, from_ms: float, to_ms: float) -> None:
        """The thread is on the CPU of its number."""
        self._add(from_ms, 1, thread, "ros2:callback_start", callback, 0)
        self._add(to_ms, 0, thread, "ros2:callback_end", callback)

    def _add(
        self, at_ms: float, microseconds: int, thread: int, name: str, *values: int | str
    ) -> None:
        # A run that begins when another one ends begins a microsecond later.
        time_ns = MS + round(at_ms * MS) + 1000 * microseconds
        content = struct.pack("<BQII", _NUMBERS[name], time_ns, self.pid, self.pid + thread)
        content += b"robot\0"
        for value in values:
            content += (
                value.encode() + b"\0" if isinstance(value, str) else struct.pack("<Q", value)
            )
        self._events.append((time_ns, thread, content))

    def save(self, directory: Path, packet_events: int = 50) -> None:
        """Writes a file per CPU, with packets of at most `packet_events` events."""
        directory.mkdir(parents=True)
        declared = "".join(
            f'event {{ name = "{name}"; id = {_NUMBERS[name]}; stream_id = 0; '
            f"fields := struct {{ {' '.join(fields)} }}; }};\n"
            for name, fields in EVENTS.items()
        )
        (directory / "metadata").write_text(_HEADER + declared)
        self._events.sort(key=lambda event: event[0])
        for cpu in sorted({event[1] for event in self._events}):
            own = [content for _, on, content in self._events if on == cpu]
            packets = [own[at : at + packet_events] for at in range(0, len(own), packet_events)]
            (directory / f"stream_{cpu}").write_bytes(
                b"".join(
                    _packet(number, cpu, b"".join(packet)) for number, packet in enumerate(packets)
                )
            )


def _packet(number: int, cpu: int, events: bytes) -> bytes:
    header = struct.pack("<I16sIQ", 0xC1FC1FC1, UUID, 0, cpu)
    bits = 8 * (len(header) + 28 + len(events))
    return header + struct.pack("<QQQI", bits, bits, number, cpu) + events
