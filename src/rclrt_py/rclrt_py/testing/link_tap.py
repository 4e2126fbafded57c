# SPDX-License-Identifier: Apache-2.0
"""Packets of a network device, before they enter its queue and when they leave it.

`python3 -m rclrt_py.testing.link_tap` runs on the host that sends. A filter copies each packet to a
second device before it enters the queue (qdisc); the kernel stamps both.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.testing.command import python_path
from rclrt_py.testing.namespaces import NotPermittedHere, TwoHosts
from rclrt_py.testing.waiting import GENEROUS_S

COPY = "copy"
"""The device to which packets are copied."""
_ALL_PROTOCOLS = 3
_SO_TIMESTAMPNS = 35
_OUTGOING = 4
_KEPT_BYTES = 640
_BUFFER_BYTES = 1 << 26
_SO_RCVBUFFORCE = 33
_ETHERNET = 14
_SOL_PACKET = 263
_PACKET_STATISTICS = 6
LOST = "lost"


class PacketsLost(Exception):
    """The buffer for the copies was too small, as it may be in a user namespace on a busy machine:
    nothing can be said of the packets."""


@dataclass(frozen=True)
class Packet:
    """A packet. Times are nanoseconds of CLOCK_MONOTONIC."""

    arrived: int
    """When it came to the queue. A packet that the queue cut from a larger one has no arrival of
    its own; then this is that of the packet before it, or 0."""
    left: int
    """When it left the queue."""
    size: int
    """Bytes with the Ethernet header."""
    head: bytes
    """The begin of the frame."""

    @property
    def ip(self) -> tuple[bytes, int, int, int] | None:
        """Returns addresses with protocol, identification, offset, and where the payload begins.
        None: it is no IPv4 packet."""
        if self.head[12:14] != b"\x08\x00" or len(self.head) < _ETHERNET + 20:
            return None
        header = self.head[_ETHERNET:]
        (ident, flags) = struct.unpack_from(">HH", header, 4)
        begin = _ETHERNET + 4 * (header[0] & 15)
        return header[9:10] + header[12:20], ident, (flags & 0x1FFF) * 8, begin


@contextmanager
def tapped(hosts: TwoHosts, host: str, device: str = "cable") -> Iterator[list[Packet]]:
    """Yields a list that has the packets that left by the device, once the context has ended.
    Throws NotPermittedHere if the kernel has no such filters, and PacketsLost."""
    try:
        pair = ("ip", "link", "add", COPY, "type", "veth", "peer", "name", COPY + "_end")
        hosts.run(host, pair)
        for name in (COPY, COPY + "_end"):
            hosts.run(host, ["ip", "link", "set", name, "addrgenmode", "none", "up"])
        hosts.run(host, ["tc", "qdisc", "add", "dev", device, "clsact"])
        to_copy = f"dev {device} egress protocol all u32 match u32 0 0 action mirred egress mirror"
        hosts.run(host, ["tc", "filter", "add", *to_copy.split(), "dev", COPY])
    except RuntimeError as reason:
        raise NotPermittedHere(str(reason)) from reason
    program = [sys.executable, "-m", "rclrt_py.testing.link_tap", COPY, device]
    process = subprocess.Popen(
        hosts.command(host, ["env", f"PYTHONPATH={python_path()}", *program]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=end_with_parent(),
    )
    assert process.stdout is not None
    found: list[Packet] = []
    try:
        if process.stdout.readline() != "ready\n":
            raise NotPermittedHere("packets cannot be seen")
        yield found
        said = process.communicate("", timeout=GENEROUS_S)[0]
    finally:
        process.kill()
        process.wait()
    if process.returncode != 0 or LOST in said:
        raise PacketsLost(said[:200] or "the program that takes copies failed")
    found += _matched(*(_frames(line) for line in said.splitlines()))


_Frame = tuple[int, int, bytes]


def _frames(line: str) -> list[_Frame]:
    return [(at, size, bytes.fromhex(head)) for at, size, head in json.loads(line)]


def _matched(before: Sequence[_Frame], after: Sequence[_Frame]) -> Iterator[Packet]:
    """Yields the packets that left. Equal packets keep their order in a queue."""
    arrivals: dict[tuple[int, bytes], list[int]] = {}
    for at, size, head in reversed(before):
        arrivals.setdefault((size, head[12:42]), []).append(at)
    latest = 0
    for at, size, head in after:
        waiting = arrivals.get((size, head[12:42]))
        latest = max(latest, waiting.pop()) if waiting else latest
        yield Packet(latest, at, size, head)


def _opened(device: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    try:
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
    except PermissionError:  # in a user namespace
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    made.bind((device, _ALL_PROTOCOLS))
    made.setblocking(False)
    return made


def _received(tap: socket.socket, buffer: bytearray, into: list[tuple[int, int, bytes]]) -> None:
    """Takes all packets that are there."""
    while True:
        try:
            size, extra, _, address = tap.recvmsg_into([buffer], 64, socket.MSG_TRUNC)
        except BlockingIOError:
            return
        if address[2] == _OUTGOING and extra:
            seconds, ns = struct.unpack("qq", extra[0][2][:16])
            into.append((seconds * 10**9 + ns, size, bytes(buffer[: min(size, _KEPT_BYTES)])))


def _monotonic_ahead_ns() -> int:
    """Returns CLOCK_MONOTONIC less CLOCK_REALTIME, the least interrupted of several readings."""
    best: tuple[int, int] | None = None
    for _ in range(20):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) // 2 - real)
    assert best is not None
    return best[1]


def main(devices: Sequence[str]) -> None:
    taps = [_opened(device) for device in devices]
    seen: list[list[tuple[int, int, bytes]]] = [[] for _ in devices]
    buffer = bytearray(_KEPT_BYTES)
    ahead_ns = _monotonic_ahead_ns()
    print("ready", flush=True)
    while sys.stdin not in select.select([*taps, sys.stdin], [], [])[0]:
        for tap, into in zip(taps, seen, strict=True):
            _received(tap, buffer, into)
    for tap, into in zip(taps, seen, strict=True):
        _received(tap, buffer, into)
    for tap in taps:
        counts = tap.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        if dropped := struct.unpack("II", counts)[1]:
            print(f"{dropped} packets {LOST}")
            return
    for each in seen:
        rows: list[Any] = [(at + ahead_ns, size, head.hex()) for at, size, head in each]
        print(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
