#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the table of docs/results/building-blocks.md from the JSON of `building_blocks`.

building_blocks_table.py BENCHMARKS.json > table.md
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple

QUEUE_WORK = {
    "one_thread/8": "push + pop, one thread, 8 bytes",
    "one_thread/64": "push + pop, one thread, 64 bytes",
    "filled/8": "512 pushes, 512 pops, 8 bytes",
    "filled/64": "512 pushes, 512 pops, 64 bytes",
    "two_threads/8": "one producer thread, 8 bytes",
    "two_threads/64": "one producer thread, 64 bytes",
    "three_threads/8": "two producer threads, 8 bytes",
    "three_threads/64": "two producer threads, 64 bytes",
}
SPSC = ["readerwriterqueue", "boost_spsc_queue", "boost_spsc_queue_constant_capacity"]
MPSC = ["concurrentqueue", "concurrentqueue_tokens", "boost_queue"]


class Row(NamedTuple):
    """The names of the benchmarks that are compared with each other."""

    what: str
    ours: str
    others: dict[str, str]
    counter: str = "real_time"


def rows() -> list[Row]:
    """Returns all rows, in the order of the table."""
    queues = [
        Row(
            f"`{title}` {what}",
            f"{kind}/{work}/rclrt",
            {other.replace("_", " "): f"{kind}/{work}/{other}" for other in others},
        )
        for kind, title, others in (("spsc", "SpscQueue", SPSC), ("mpsc", "MpscQueue", MPSC))
        for work, what in QUEUE_WORK.items()
        if kind == "mpsc" or not work.startswith("three")
    ]
    latest = [
        Row(
            f"`LatestValue` {what}, 24 bytes",
            f"latest_value/{work}/rclrt",
            {
                "std::mutex": f"latest_value/{work}/std_mutex",
                "sequence lock": f"latest_value/{work}/sequence_lock",
            },
        )
        for work, what in (
            ("write", "write"),
            ("read_same", "read, nothing new"),
            ("write_then_read", "write, then read it"),
        )
    ]
    span_floor = {"rdtsc pair and ring store": "floor_rdtsc_pair_and_ring_store"}
    return [
        *queues,
        *latest,
        Row(
            "`PiMutex` lock + unlock",
            "mutex/lock_unlock/rclrt_pi",
            {"std::mutex": "mutex/lock_unlock/std_mutex"},
        ),
        Row(
            "`Histogram` record",
            "histogram_record",
            {"atomic increment": "histogram_floor_atomic_increment"},
        ),
        Row(
            "`Histogram` record, single writer",
            "histogram_record_alone",
            {"atomic increment": "histogram_floor_atomic_increment"},
        ),
        Row("`Tracer` span", "trace_span", span_floor),
        Row("`Tracer` span, switched off", "trace_span_when_off", span_floor),
        Row(
            "log call, two arguments, p50",
            "log_an_integer_and_a_double<Ours>",
            {"spdlog async": "log_an_integer_and_a_double<Spdlog>"},
            "p50_ns",
        ),
        Row(
            "log call, two arguments, mean",
            "log_an_integer_and_a_double<Ours>",
            {"spdlog async": "log_an_integer_and_a_double<Spdlog>"},
        ),
    ]


def read_medians(path: Path) -> dict[str, dict[str, float]]:
    """Returns the median of the repetitions of each benchmark, by name without settings."""
    medians = {}
    for one in json.loads(path.read_text())["benchmarks"]:
        if one.get("aggregate_name") == "median":
            name = one["run_name"].split("/real_time")[0].split("/iterations")[0]
            medians[name] = one
    return medians


def main() -> int:
    """Prints the table."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    medians = read_medians(Path(sys.argv[1]))
    print("| ns, median | rclrt | others | rclrt / best other |")
    print("|---|--:|---|--:|")
    for row in rows():
        ours = medians[row.ours][row.counter]
        others = {
            name: medians[key][row.counter] for name, key in row.others.items() if key in medians
        }
        listed = ", ".join(f"{name} {value:.3g}" for name, value in others.items())
        print(f"| {row.what} | {ours:.3g} | {listed} | {ours / min(others.values()):.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
