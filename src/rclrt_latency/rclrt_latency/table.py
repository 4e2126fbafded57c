# SPDX-License-Identifier: Apache-2.0
"""The measurements as lines of at most 120 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rclrt_py.terminal.table import LINE_WIDTH, Columns, Paint
from rclrt_py.text import shorten

from rclrt_latency.wake_ups import Series, Thread, Times, WakeUps

HEADS = (
    ("", "CPU", 5),
    ("", "n", 9),
    ("", "min", 8),
    ("", "median", 8),
    ("", "p99", 9),
    ("", "max", 10),
    ("undisturbed", "p99", 14),
    ("", "max", 10),
    ("", "disturbed", 11),
    ("stalls", "n", 9),
    ("", "largest", 10),
)
COLUMNS = Columns(10, *(width for _, _, width in HEADS))


def lines(wake_ups: WakeUps, paint: Paint) -> Iterator[str]:
    """The table, and notes on how to read it."""
    yield paint.bold(f"{wake_ups.title()}; times in µs")
    yield paint.dim(COLUMNS.line("", *(text for text, _, _ in HEADS)))
    yield paint.dim(COLUMNS.line("policy", *(text for _, text, _ in HEADS)))
    has_stalls = wake_ups.method != "none" and wake_ups.stalls_valid
    for series in wake_ups.series:
        for thread in series.threads:
            yield _row(series, thread, has_stalls)
    yield ""
    yield from _wrapped(_stall_notes(wake_ups))
    yield from _wrapped(_notes(wake_ups))
    if wake_ups.broken:
        yield paint.red(_broken(wake_ups))


def _row(series: Series, thread: Thread, has_stalls: bool) -> str:
    """The line of a thread; its stall columns are "-" if the stalls are not known."""
    overall, undisturbed = thread.overall, thread.undisturbed if has_stalls else None
    cells = [
        "any" if thread.cpu is None else str(thread.cpu),
        str(overall.n if overall else 0),
        *_cells(overall, ("min", "median", "p99", "max")),
        *_cells(undisturbed, ("p99", "max")),
        *(
            (str(thread.disturbed), str(thread.stalls.count), number(thread.stalls.largest))
            if has_stalls
            else ("-", "-", "-")
        ),
    ]
    return COLUMNS.line(series.policy, *cells)


def _cells(times: Times | None, names: tuple[str, ...]) -> list[str]:
    return [number(getattr(times, name)) if times else "-" for name in names]


def number(time_us: float) -> str:
    return f"{time_us:.1f}" if time_us < 1e4 else f"{time_us:.0f}"


def _stall_notes(wake_ups: WakeUps) -> Iterator[str]:
    threads = [thread for series in wake_ups.series for thread in series.threads]
    threshold = f"{wake_ups.threshold_us:g} µs"
    if wake_ups.method == "none":
        yield "Stalls of the machine were not looked for."
    elif not wake_ups.stalls_valid:
        yield f"Stalls of the machine could not be recognised: {wake_ups.stalls_reason}"
    elif wake_ups.method == "probe":
        yield (
            f"stalls: a more urgent thread woke more than {threshold} late: the host, the firmware "
            "(SMI), or the kernel with interrupts off (--stalls spin distinguishes these)."
        )
        yield (
            "The probe wakes each CPU between the samples, which lowers the median: compare with "
            "cyclictest by --stalls none."
        )
    else:
        undecided = sum(thread.undecided.count for thread in threads)
        largest = max((thread.undecided.largest for thread in threads), default=0.0)
        yield (
            f"stalls: the host took the CPU, or all CPUs stood still at once, for {threshold} or "
            f"more. Not among them: {undecided} times one CPU did not run its thread, at most "
            f"{number(largest)} µs; that may be an interrupt of the kernel."
        )
        if wake_ups.watched is not None:
            yield (
                f"The watch had its CPU for {100 * wake_ups.watched:.0f} % of the time; stalls in "
                "the rest of the time, when other threads ran, were not detected."
            )


def _notes(wake_ups: WakeUps) -> Iterator[str]:
    threads = [thread for series in wake_ups.series for thread in series.threads]
    missed = sum(thread.missed for thread in threads)
    if missed:
        yield f"Wake-ups left out because the thread woke after the next was due: {missed}."
    if wake_ups.smis is not None:
        yield f"Interrupts of the firmware (SMI) meanwhile: {wake_ups.smis}."
    unjudged = sum(thread.unjudged for thread in threads)
    if unjudged:
        yield f"It is not known whether a stall disturbed {unjudged} of the samples."
    floor = max((thread.floor for thread in threads), default=0.0)
    if floor:
        yield (
            f"Samples below {number(floor)} µs count as undisturbed, because there were more "
            "samples than can be compared with stalls."
        )
    yield from wake_ups.notes
    if wake_ups.interrupted:
        yield "Interrupted: these are the figures until then."


def _broken(wake_ups: WakeUps) -> str:
    broken = wake_ups.broken
    assert broken is not None
    where = "" if broken.cpu is None else f" on CPU {broken.cpu}"
    why = ", during a stall of the machine" if broken.disturbed else ""
    dump = broken.dump or f"no trace was written: {broken.dump_error or 'nothing was traced'}"
    return f"{broken.policy}{where} woke {number(broken.latency)} µs late{why}: {dump}"


def _wrapped(notes: Iterator[str]) -> Iterator[str]:
    for note in notes:
        yield from textwrap.wrap(shorten(note, 1000), LINE_WIDTH)
