# SPDX-License-Identifier: Apache-2.0
"""Whether stamps of this host mean anything on another one."""

from __future__ import annotations

from collections.abc import Sequence

from rclrt_py.clocks.interval import TAI_ADVICE
from rclrt_py.clocks.sources import ClockSource, clock_sources
from rclrt_py.doctor.checks import Finding, ok, warning

NAME = "host clock"
MEASURE = "`rclrt clock` measures how far the clocks of the robot's computers differ"
LARGE_NS = 1e6
"""An error of this size, 1 ms, is visible in latencies over hosts."""


def host_clock(sources: Sequence[ClockSource] | None = None) -> Finding:
    """Returns how exact the clock is, by the first program that states it."""
    known = clock_sources() if sources is None else list(sources)
    for source in known:
        if source.fault is not None:
            return warning(NAME, f"{source.name}: {source.reference}", source.fault)
        if source.is_tai:
            found = f"{source.name}: 37 s from {source.reference}"
            return warning(NAME, found, TAI_ADVICE)
    stated = [each for each in known if each.interval is not None]
    if not stated and any(each.is_synchronised for each in known):
        return warning(
            NAME,
            "a program sets it, and its error is not stated",
            f"chrony states the error of a clock; {MEASURE}",
        )
    if not stated:
        return warning(
            NAME,
            "not synchronised: ages of data from other computers may be wrong by any time",
            f"install chrony or linuxptp on each computer; {MEASURE}",
        )
    source = stated[0]
    assert source.interval is not None
    error_ns = max(abs(source.interval.low_ns), abs(source.interval.high_ns))
    found = f"within {error_ns / 1e6:.3f} ms of {source.reference} ({source.name})"
    if error_ns > LARGE_NS:
        return warning(
            NAME,
            found,
            "use a nearer time server, or PTP, if latencies over several computers matter; "
            + MEASURE,
        )
    return ok(NAME, found)
