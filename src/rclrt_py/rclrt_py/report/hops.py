# SPDX-License-Identifier: Apache-2.0
"""Shows how long messages took from one process to another."""

from __future__ import annotations

from collections.abc import Iterator

from rclrt_py.runs.results import Results
from rclrt_py.terminal.table import Columns

TITLE = "messages between processes, ms"
HOSTS_TITLE = "messages between processes and hosts, ms"
COLUMNS = ("n", "best", "p50", "p99", "worst")
WIDTH = 10


def hop_lines(results: Results) -> Iterator[str]:
    """Yields a table of the times from publication until the executor knew of the message."""
    hops = [hop for hop in results.hops if hop.between in ("processes", "hosts")]
    if not hops:
        return
    names = [f"{hop.sender} -> {hop.receiver}" for hop in hops]
    title = HOSTS_TITLE if results.hosts else TITLE
    columns = Columns.named([title, *names], *[WIDTH] * len(COLUMNS))
    yield ""
    yield columns.line(title, *COLUMNS)
    for name, hop in zip(names, hops, strict=True):
        times = (hop.time.best, hop.time.p50, hop.time.p99, hop.time.worst)
        error = f"  ±{hop.error_ms:.3f}" if hop.between == "hosts" else ""
        yield columns.line(name, str(hop.messages), *(f"{time:.3f}" for time in times)) + error
