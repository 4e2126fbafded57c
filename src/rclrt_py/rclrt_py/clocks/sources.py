# SPDX-License-Identifier: Apache-2.0
"""The programs that state how exact this host's clock is, and what they state now."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.clocks.interval import Interval

CHRONY = ("chronyc", "-c", "tracking")
PTP = (
    *("pmc", "-u", "-b", "0", "GET TIME_STATUS_NP", "GET CURRENT_DATA_SET"),
    *("GET TIME_PROPERTIES_DATA_SET", "GET PORT_PROPERTIES_NP"),
)
PTP_SOCKET = Path("/var/run/ptp4l")
_PATIENCE_S = 3.0
_STA_UNSYNC = 0x40
_CHRONY_FIELDS = (13, 14)
"""Fields of a line: before chrony 3, the reference had no name."""
_CHRONY_LOCAL = "7F7F0101"
"""The reference of a chronyd with the directive `local` that hears no server."""


@dataclass(frozen=True)
class ClockSource:
    """The statement of a program about this host's clock."""

    name: str
    """chrony, ptp4l or kernel."""
    reference: str
    """The clock that it is compared with."""
    interval: Interval | None
    """This host's clock less the reference. None: its error is not stated."""
    is_synchronised: bool = True
    distance: Interval | None = None
    """The size of the difference, where its sign is not in the interval."""
    fault: str | None = None
    """A mistake in the settings, and the fix."""

    @property
    def is_tai(self) -> bool:
        """Returns whether the difference is about that of TAI and UTC."""
        return any(each is not None and each.is_tai for each in (self.interval, self.distance))

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "reference": self.reference,
            "low_ns": None if self.interval is None else self.interval.low_ns,
            "high_ns": None if self.interval is None else self.interval.high_ns,
            "synchronised": self.is_synchronised,
            "fault": self.fault,
        }


Ask = Callable[[Sequence[str]], str | None]
"""Returns the output of a command; None: the program is missing or failed."""


def ask(command: Sequence[str]) -> str | None:
    """Runs a command for a short time."""
    places = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"  # pmc is there
    program = shutil.which(command[0], path=places)
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def clock_sources(ask_program: Ask = ask) -> list[ClockSource]:
    """Returns what chrony, ptp4l and the kernel state now, where they run."""
    found = [
        chrony_source(ask_program(CHRONY) or ""),
        ptp_source(ask_program(PTP) or "") or _silent_ptp(PTP_SOCKET),
        kernel_source(read_kernel()),
    ]
    return [each for each in found if each is not None]


def chrony_source(output: str) -> ClockSource | None:
    """Reads the output of `chronyc -c tracking`. The clock's error is at most |system time| + root
    dispersion + root delay / 2 (chronyc(1), "tracking"). None: it is no such output."""
    fields = output.strip().split(",")
    if len(fields) not in _CHRONY_FIELDS:
        return None
    system_s, delay_s, dispersion_s = (_number(fields[place]) for place in (-10, -4, -3))
    if system_s is None or delay_s is None or dispersion_s is None:
        return None
    if fields[-1] == "Not synchronised":
        return ClockSource("chrony", "not synchronised", None, is_synchronised=False)
    if fields[0] == _CHRONY_LOCAL:
        return ClockSource("chrony", "runs free (local), without a server", None, False)
    reference = fields[1] if len(fields) == max(_CHRONY_FIELDS) and fields[1] else fields[0]
    own_ns, network_ns = abs(system_s) * 1e9, (dispersion_s + delay_s / 2) * 1e9
    error_ns = own_ns + network_ns
    return ClockSource(
        "chrony",
        f"the time of {reference}",
        Interval(-error_ns, error_ns),
        distance=Interval(own_ns - network_ns, error_ns),
    )


ReadCard = Callable[[str], Interval | None]
"""Returns the clock of a network card less CLOCK_REALTIME. None: it cannot be read."""


def read_card(interface: str) -> Interval | None:
    """Reads the PTP clock of an interface between two readings of CLOCK_REALTIME."""
    if not re.fullmatch(r"[\w.-]{1,15}", interface):
        return None
    clocks = sorted(Path("/sys/class/net", interface, "device/ptp").glob("ptp*"))
    if len(clocks) != 1:
        return None
    try:
        descriptor = os.open(f"/dev/{clocks[0].name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        card = (~descriptor << 3) | 3  # FD_TO_CLOCKID of clock_gettime(2)
        before_ns = time.time_ns()
        card_ns = time.clock_gettime_ns(card)
        return Interval(card_ns - time.time_ns(), card_ns - before_ns)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def ptp_source(output: str, card: ReadCard = read_card) -> ClockSource | None:
    """Reads the output of pmc. ptp4l states the offset from the master of the clock that it sets:
    with hardware time stamps, that of the network card, which is then compared with this host's
    clock. The offset is wrong by at most the mean path delay, half of the way there and back.
    None: ptp4l does not answer."""
    values = {
        parts[0]: parts[1].strip()
        for line in output.splitlines()
        if len(parts := line.split(maxsplit=1)) == 2
    }
    offset_ns = _number(values.get("master_offset", ""))
    if offset_ns is None:
        return None
    if values.get("gmPresent") != "true":
        return ClockSource("ptp4l", "this clock is the PTP master", None, is_synchronised=False)
    master = f"PTP master {values.get('gmIdentity', 'unknown')}"
    steps = _number(values.get("stepsRemoved", "")) or 1
    if steps > 1:
        master = f"the PTP clock before this one, {steps:.0f} steps from {master}"
    fault = None
    has_tai = values.get("ptpTimescale") == "1"
    if has_tai and values.get("currentUtcOffsetValid") == "0":
        fault = (
            "the PTP master does not state its offset from UTC (currentUtcOffsetValid 0): clocks "
            "set from it may be wrong by 37 s; set currentUtcOffset and its flag at the master"
        )
    delay_ns = _number(values.get("meanPathDelay", ""))
    kind = values.get("timestamping", "HARDWARE")
    utc_s = _number(values.get("currentUtcOffset", "")) if has_tai else 0.0
    if delay_ns is None or utc_s is None:
        return ClockSource("ptp4l", f"{master}; its error is not stated", None, fault=fault)
    offset = Interval(offset_ns - abs(delay_ns), offset_ns + abs(delay_ns))
    if kind == "SOFTWARE":
        return ClockSource("ptp4l", master, offset, fault=fault)
    less_realtime = card(values.get("interface", ""))
    if less_realtime is None:
        reference = f"the network card follows {master}; how this clock follows the card is unknown"
        return ClockSource("ptp4l", reference, None, fault=fault)
    own = Interval(
        offset.low_ns - less_realtime.high_ns + utc_s * 1e9,
        offset.high_ns - less_realtime.low_ns + utc_s * 1e9,
    )
    return ClockSource("ptp4l", master, own, fault=fault)


def _silent_ptp(socket: Path) -> ClockSource | None:
    """Returns a source if ptp4l runs and does not answer this user."""
    if not socket.exists():
        return None
    return ClockSource("ptp4l", "runs; only root may ask it (pmc)", None, is_synchronised=False)


def kernel_source(status: int) -> ClockSource | None:
    """Returns whether a program sets the kernel's clock. The kernel's largest error is not used:
    systemd-timesyncd and linuxptp write 0 there. None: no program does."""
    if status & _STA_UNSYNC:
        return None
    return ClockSource("kernel", "a program sets this clock; its error is not stated", None)


class _Timex(ctypes.Structure):
    """struct timex of adjtimex(2), up to `status`, and room for the rest."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


def read_kernel() -> int:
    """Returns the status of the kernel's clock. Changes nothing."""
    values = _Timex()
    if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(values)) < 0:
        return _STA_UNSYNC
    return int(values.status)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e18 else None  # rejects infinity and NaN
