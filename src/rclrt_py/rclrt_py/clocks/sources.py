# SPDX-License-Identifier: Apache-2.0
"""The programs that state how exact this host's clock is, and what they state now."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rclrt_py.clocks.interval import Interval

CHRONY = ("chronyc", "-c", "tracking")
PTP = (
    *("pmc", "-u", "-b", "0", "GET TIME_STATUS_NP"),
    *("GET CURRENT_DATA_SET", "GET TIME_PROPERTIES_DATA_SET"),
)
_PATIENCE_S = 3.0
_STA_UNSYNC = 0x40
_CHRONY_FIELDS = (13, 14)
"""Fields of a line: before chrony 3, the reference had no name."""


@dataclass(frozen=True)
class ClockSource:
    """The statement of a program about this host's clock."""

    name: str
    """chrony, ptp4l or kernel."""
    reference: str
    """The clock that it is compared with."""
    interval: Interval | None
    """This host's clock less the reference. None: it is not synchronised."""
    fault: str | None = None
    """A mistake in the settings, and the fix."""

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "reference": self.reference,
            "low_ns": None if self.interval is None else self.interval.low_ns,
            "high_ns": None if self.interval is None else self.interval.high_ns,
            "fault": self.fault,
        }


Ask = Callable[[Sequence[str]], str | None]
"""Returns the output of a command; None: the program is missing or failed."""


def ask(command: Sequence[str]) -> str | None:
    """Runs a command for a short time."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def clock_sources(ask_program: Ask = ask) -> list[ClockSource]:
    """Returns what chrony, ptp4l and the kernel state now, where they run."""
    found = [
        chrony_source(ask_program(CHRONY) or ""),
        ptp_source(ask_program(PTP) or ""),
        kernel_source(*read_kernel()),
    ]
    return [each for each in found if each is not None]


def chrony_source(output: str) -> ClockSource | None:
    """Reads the output of `chronyc -c tracking`. The clock's error is at most |system time| + root
    dispersion + root delay / 2 (chronyc(1), "tracking"). None: it is no such output."""
    fields = output.strip().split(",")
    if len(fields) not in _CHRONY_FIELDS:
        return None
    numbers = [_number(fields[place]) for place in (-10, -4, -3)]
    system_s, delay_s, dispersion_s = numbers
    if system_s is None or delay_s is None or dispersion_s is None:
        return None
    reference = fields[1] if len(fields) == max(_CHRONY_FIELDS) and fields[1] else fields[0]
    if fields[-1] == "Not synchronised":
        return ClockSource("chrony", reference, None)
    error_ns = (abs(system_s) + dispersion_s + delay_s / 2) * 1e9
    return ClockSource("chrony", f"UTC by {reference}", Interval(-error_ns, error_ns))


def ptp_source(output: str) -> ClockSource | None:
    """Reads the output of pmc. The offset from the master is wrong by at most half of the path's
    two delays, which together are twice the mean path delay. None: ptp4l does not answer."""
    values = dict(
        parts for line in output.splitlines() if len(parts := line.split(maxsplit=1)) == 2
    )
    offset_ns = _number(values.get("master_offset", ""))
    if offset_ns is None:
        return None
    master = f"PTP master {values.get('gmIdentity', 'unknown').strip()}"
    if values.get("gmPresent", "").strip() != "true":
        return ClockSource("ptp4l", "this clock is the PTP master", None)
    delay_ns = abs(_number(values.get("meanPathDelay", "")) or 0.0)
    interval = Interval(offset_ns - delay_ns, offset_ns + delay_ns)
    fault = None
    if values.get("ptpTimescale", "").strip() == "1" and (
        values.get("currentUtcOffsetValid", "").strip() == "0"
    ):
        fault = (
            "the PTP master does not state its offset from UTC (currentUtcOffsetValid 0): clocks "
            "set from it may be wrong by 37 s; set currentUtcOffset and its flag at the master"
        )
    return ClockSource("ptp4l", master, interval, fault)


def kernel_source(status: int, most_error_us: int) -> ClockSource | None:
    """Returns what the kernel has from the program that sets its clock. None: it has nothing."""
    if status & _STA_UNSYNC:
        return None
    error_ns = most_error_us * 1e3
    return ClockSource("kernel", "UTC", Interval(-error_ns, error_ns))


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


def read_kernel() -> tuple[int, int]:
    """Returns the status of the kernel's clock and its largest error in µs. Changes nothing."""
    values = _Timex()
    if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(values)) < 0:
        return _STA_UNSYNC, 0
    return int(values.status), int(values.maxerror)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e18 else None  # rejects infinity and NaN
