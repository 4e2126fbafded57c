# SPDX-License-Identifier: Apache-2.0
"""A live table of the callbacks with deadlines that running robots report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rclrt_py.live.statuses import ERROR, WARN, LiveCallback, Statuses
from rclrt_py.terminal.table import LINE_WIDTH, Columns, Paint
from rclrt_py.text import exact, shorten

NAME_WIDTH = 37
COLUMNS = (
    ("priority", 9),
    ("deadline", 10),
    ("p99", 9),
    ("released", 10),
    ("lost", 8),
    ("missed", 8),
    ("+", 6),
    ("worst late", 11),
)
"""Title and width of each column. The deadline, the p99 of the responses in the last period and the
worst lateness are in ms. `+` is the number of misses in that period."""

WIDTHS = Columns(NAME_WIDTH, *(width for _, width in COLUMNS))


class LiveTable(Statuses):
    """The statuses as a table."""

    def lines(self, now_s: float, paint: Paint) -> Iterator[str]:
        """Yields the table, the most serious first, then the most urgent."""
        titles = (title for title, _ in COLUMNS)
        yield paint.dim(WIDTHS.line("callback", *titles, "  most in the way"))
        for name, callback in sorted(self.present(), key=_seriousness):
            yield from _lines(name, callback, now_s - self.silent_after_s, paint)
        if not self.callbacks:
            yield "  none yet: a callback is listed if it states deadline_ms or max_age_ms"
        for name, process in sorted(self.processes.items()):
            silent = ", silent" if process.received_s < now_s - self.silent_after_s else ""
            cpu = f", {process.real('cpu_percent'):.1f} % of a CPU" * (
                "cpu_percent" in process.values
            )
            text = shorten(f"{name}: {process.message}{cpu}{silent}", LINE_WIDTH)
            is_serious = process.level >= WARN and not silent
            yield paint.red(text) if is_serious else paint.dim(text)
            lost = process.whole("misses_without_blame")
            if lost > 0:
                yield paint.dim(f"  the cause of {lost} misses is unknown")


def _seriousness(item: tuple[str, LiveCallback]) -> tuple[int, int, str]:
    name, callback = item
    return -callback.latest.level, -callback.latest.whole("priority"), name


def _lines(
    name: str, callback: LiveCallback, silent_before_s: float, paint: Paint
) -> Iterator[str]:
    status = callback.latest
    missed = status.whole("missed")
    fresh = "" if callback.missed_before is None else f"{max(missed - callback.missed_before, 0)}"
    cells: Sequence[str] = (
        str(status.whole("priority")),
        exact(status.real("deadline_ms")),
        f"{status.real('p99_ms'):.3f}" if "p99_ms" in status.values else "-",
        str(status.whole("released")),
        str(status.whole("dropped")),
        str(missed),
        fresh,
        f"{callback.worst_late_ms:.3f}" if callback.worst_late_ms > 0 else "-",
    )
    in_the_way = f"  {shorten(callback.in_the_way, 40)}"
    line = WIDTHS.line(shorten(name, NAME_WIDTH - 1), *cells, in_the_way)
    if status.received_s < silent_before_s:
        yield paint.dim(line + "  (silent)")
        return
    yield (paint.red(line) if status.level >= WARN else line)
    if status.level >= ERROR:
        yield paint.red("  " + shorten(status.message, LINE_WIDTH - 2))
