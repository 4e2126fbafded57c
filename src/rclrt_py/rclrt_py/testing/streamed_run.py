# SPDX-License-Identifier: Apache-2.0
"""Changes a run directory into that of a run that streamed, by the contract of the runner."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

KEPT_PER_CHAIN = 10
HEADER = "kind,id,times,lowest_ns,highest_ns,count"


def bucket_of(time_ns: int) -> tuple[int, int]:
    """Returns the first and the last time of the bucket: 1024 buckets for each power of two."""
    width = max(1, 1 << max(0, time_ns.bit_length() - 11))
    lowest = time_ns // width * width
    return lowest, lowest + width - 1


def stream_run(directory: Path, latest_ns: int, ended: str | None = None) -> Path:
    """Changes the run: of the instances of chains and callbacks it keeps the worst ones, and those
    of its last `latest_ns` nanoseconds."""
    document: dict[str, Any] = json.loads((directory / "results.json").read_text(encoding="utf-8"))
    since = round(document["duration_s"] * 1e9) - latest_ns
    chains, instances = rows(directory / "chains.csv"), rows(directory / "instances.csv")
    lines = [HEADER]
    for chain in document["chains"]:
        responses = [row["response_ns"] for row in chains if row["chain"] == chain["id"]]
        lines += _histogram("chain", chain["id"], "response", map(int, filter(None, responses)))
    for callback in document["callbacks"]:
        own = [
            {key: int(value) for key, value in row.items() if key.endswith("_ns")}
            for row in instances
            if row["callback"] == callback["id"] and row["outcome"] == "ran"
        ]
        for name, times in (
            ("response", [row["end_ns"] - row["release_ns"] for row in own]),
            ("dispatch", [row["start_ns"] - row["ready_ns"] for row in own]),
            ("execution", [row["cpu_ns"] for row in own]),
        ):
            lines += _histogram("callback", callback["id"], name, times)
    (directory / "histograms.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    kept_chains = list(_worst_and_latest(chains, since))
    spans = [(int(row["release_ns"]), int(row["completion_ns"] or 0)) for row in kept_chains]
    kept = [
        row
        for row in instances
        if any(int(row["start_ns"]) < end and int(row["end_ns"]) > begin for begin, end in spans)
        or int(row["end_ns"]) >= since
    ]
    _write(directory / "chains.csv", list(chains[0]), kept_chains)
    _write(directory / "instances.csv", list(instances[0]), kept)
    document["streamed"] = {
        "instances": len(instances),
        "kept": len(kept),
        "latest_since_ms": since / 1e6,
        "percentile_error": 0.001,
    }
    if ended is not None:
        document["ended"] = ended
    (directory / "results.json").write_text(json.dumps(document), encoding="utf-8")
    return directory


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _histogram(kind: str, name: str, times: str, values: Iterable[int]) -> Iterator[str]:
    counts = Counter(map(bucket_of, values))
    for (lowest, highest), count in sorted(counts.items()):
        yield f"{kind},{name},{times},{lowest},{highest},{count}"


def _worst_and_latest(chains: list[dict[str, str]], since: int) -> Iterator[dict[str, str]]:
    by_response = sorted(chains, key=lambda row: -int(row["response_ns"] or 0))
    worst: dict[str, set[str]] = {}
    for row in by_response:
        own = worst.setdefault(row["chain"], set())
        if len(own) < KEPT_PER_CHAIN:
            own.add(row["instance"])
    for row in chains:
        if row["instance"] in worst[row["chain"]] or int(row["release_ns"]) >= since:
            yield row


def _write(path: Path, columns: list[str], found: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
