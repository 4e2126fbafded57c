# SPDX-License-Identifier: Apache-2.0
"""The table of a measured link."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rclrt_py.calibration.link_calibration import entries_yaml
from rclrt_py.terminal.table import fitted_lines

WIDTH = 100
FAST_DDS = "rmw_fastrtps_cpp"
HEADS = ("bytes", "on the line", "sent", "lost", "best ms", "p50 ms", "p99 ms")
NO_BOUND = (
    "These measurements are no bounds: other messages may take longer. State the rate and burst "
    "that the shaper is set to, and the traffic that shares the link (cross_traffic)."
)
ASSUMED = (
    "Assumed: nothing else used the link meanwhile; a message is one datagram, as Fast DDS sends "
    "it, which IP cuts into packets of 1500 bytes; bytes count with Ethernet headers of 14 bytes, "
    "as tbf counts them. The entry has one rate for both directions, the lower one; a line behind "
    "a shaper that is too fast to be measured counts as 1 Gbit/s."
)


def measured_lines(document: dict[str, Any]) -> Iterator[str]:
    """Yields the tables of both directions of a link, and what was found."""
    for way in document["directions"]:
        yield f"{way['from']} to {way['to']}"
        rows = [_cells(size) for size in way["sizes"]]
        yield from fitted_lines([HEADS, *rows], left=0)
        yield ""
    for way in document["directions"]:
        yield f"{way['from']} to {way['to']}: {_found(way)}"
    yield ""
    yield f"Clock of {document['directions'][0]['to']}: {document['clock']}."
    yield from textwrap.wrap(ASSUMED, WIDTH)
    if document["machine"]["rmw"] != FAST_DDS:
        rmw = document["machine"]["rmw"]
        yield f"Measured on {rmw}, which may send other packets, so the rate is less exact."
    if not document["realtime"]:
        yield "Not real-time: with SCHED_FIFO the longer times would be shorter."
    yield ""


def entry_lines(documents: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields the entries of all measured links for an app.yaml."""
    for document in documents:
        if document["link"] is None:
            way = document["directions"][0]
            yield (
                f"{way['from']} to {way['to']}: larger messages took no longer, so the rate is not "
                "known, and there is no entry."
            )
    entries = [each["link"] for each in documents if each["link"] is not None]
    if not entries:
        return
    yield "In the app.yaml:"
    yield ""
    yield from entries_yaml(entries)
    yield ""
    yield from textwrap.wrap(NO_BOUND, WIDTH)


def _cells(size: dict[str, Any]) -> tuple[str, ...]:
    lost = max(0, size["sent"] - size["received"])
    counts = (str(size[key]) for key in ("bytes", "bytes_on_line", "sent"))
    times = (f"{size[key]:.3f}" for key in ("best_ms", "p50_ms", "p99_ms"))
    return (*counts, str(lost), *times)


def _found(way: dict[str, Any]) -> str:
    if way["rate_kbit"] is None:
        rate = "a rate too high to be measured"
    else:
        rate = f"{way['rate_kbit']:.0f} kbit/s"
        if way["burst_bytes"] is not None:
            rate += f" after a burst of {way['burst_bytes']} bytes"
    return (
        f"{rate}, {way['fixed_ms']:.3f} ms for each message besides (±{way['error_ms']:.3f} ms, "
        f"clocks of the hosts), {way['lost']} of {way['sent']} messages lost"
    )
