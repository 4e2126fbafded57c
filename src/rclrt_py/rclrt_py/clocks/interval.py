# SPDX-License-Identifier: Apache-2.0
"""Offsets of clocks as intervals."""

from __future__ import annotations

from dataclasses import dataclass

TAI_LESS_UTC_S = 37
"""TAI - UTC since 2017: the seconds by which a clock is wrong that shows the other time scale."""


@dataclass(frozen=True)
class Interval:
    """An offset between two clocks: at least `low_ns`, at most `high_ns`."""

    low_ns: float
    high_ns: float

    @property
    def width_ns(self) -> float:
        return self.high_ns - self.low_ns

    @property
    def is_tai(self) -> bool:
        """Returns whether the offset may be within a second of the difference of TAI and UTC, and
        is known to a second."""
        return self.width_ns <= 1e9 and any(
            self.low_ns <= (sign * TAI_LESS_UTC_S + 1) * 1e9
            and self.high_ns >= (sign * TAI_LESS_UTC_S - 1) * 1e9
            for sign in (-1, 1)
        )


TAI_ADVICE = (
    "one clock shows TAI (the time of PTP), the other UTC: run phc2sys with -w, or with -O -37 "
    "from the network card to the system clock; or set currentUtcOffset of the PTP master"
)


def within_ms(interval: Interval) -> str:
    """Returns "+0.123 to +0.456 ms"."""
    return f"{interval.low_ns / 1e6:+.3f} to {interval.high_ns / 1e6:+.3f} ms"
