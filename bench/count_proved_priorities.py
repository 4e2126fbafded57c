# SPDX-License-Identifier: Apache-2.0
"""For how many generated applications each source of priorities proves all deadlines.

In an environment with rclrt: python3 bench/count_proved_priorities.py --count 50
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rclrt_py.native import load_application

import rclrt_analysis
from rclrt_model import Application

SOURCES = ("rate", "deadline", "picas")
PLAIN = {
    "feasibility": "none",
    "chain_avg_len": 3,
    "chain_variance": 0.4,
    "min_period_us": 10_000,
    "max_period_us": 100_000,
    "event_p": 0.2,
    "event_jitter": 0.3,
}
SHARED = {"chain_merge_p": 0.05, "chain_sync_p": 0.05}
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "`preemptive`, one CPU": (
        "preemptive",
        {"chain_count": 6, "util_total": 0.85, "min_deadline": 0.6, "max_deadline": 3},
    ),
    "the same, groups": (
        "preemptive",
        {
            "chain_count": 6,
            "util_total": 0.75,
            "group_p": 0.4,
            "min_deadline": 0.5,
            "max_deadline": 1.5,
        },
    ),
    "`picas`, one CPU": (
        "picas",
        {"chain_count": 6, "util_total": 0.75, "min_deadline": 0.5, "max_deadline": 1.5},
    ),
    "`preemptive`, one CPU, merges and synchronisers": (
        "preemptive",
        {"chain_count": 6, "util_total": 0.75, "min_deadline": 0.5, "max_deadline": 2, **SHARED},
    ),
    "`preemptive`, 2 CPUs": (
        "preemptive",
        {
            "chain_count": 8,
            "util_total": 1.2,
            "cpus": [0, 1],
            "cpus_per_executor": 2,
            "min_deadline": 0.7,
            "max_deadline": 1.5,
        },
    ),
    "`preemptive`, 4 CPUs": (
        "preemptive",
        {
            "chain_count": 12,
            "util_total": 2.2,
            "cpus": [0, 1, 2, 3],
            "cpus_per_executor": 4,
            "min_deadline": 0.7,
            "max_deadline": 1.5,
        },
    ),
}


def proves(application: Application, executor: str, source: str) -> bool:
    found = rclrt_analysis.synthesize_priorities(application, source)
    made = rclrt_analysis.with_priorities(application, [priority for priority, _ in found])
    return rclrt_analysis.quality(made, executor).not_proved == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--evaluations", type=int, default=300)
    arguments = parser.parse_args()
    columns = (*SOURCES, "any of these", "bounds", "of these by a search", "none can")
    print("| applications |", " | ".join(columns), "|")
    print("|---|" + "--:|" * len(columns))
    for name, (executor, rules) in CASES.items():
        counts = dict.fromkeys(columns, 0)
        with tempfile.TemporaryDirectory() as directory:
            command = ["rclrt", "generate", "--count", str(arguments.count), "--out", directory]
            rule_text = json.dumps({**PLAIN, **rules})
            subprocess.run(
                [*command, "--rules-data", rule_text], check=True, stdout=subprocess.DEVNULL
            )
            for file in sorted(Path(directory).glob("*/app.yaml")):
                application = load_application(file)
                proved = {source: proves(application, executor, source) for source in SOURCES}
                found = rclrt_analysis.bound_priorities(
                    application, executor, evaluations=arguments.evaluations
                )
                for source, proof in proved.items():
                    counts[source] += proof
                counts["any of these"] += any(proved.values())
                counts["bounds"] += found.feasible
                counts["of these by a search"] += found.feasible and found.method == "a search"
                counts["none can"] += not found.feasible and found.optimal
        print(f"| {name} |", " | ".join(str(counts[each]) for each in columns), "|", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
