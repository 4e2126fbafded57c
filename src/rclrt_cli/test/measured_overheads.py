# SPDX-License-Identifier: Apache-2.0
"""A file of overheads as `rclrt calibrate` writes it, and the application it is used with."""

from __future__ import annotations

from sources import ROOT

APP = str(ROOT / "examples/autonomous_vehicle/app.yaml")
MEASURED = {
    "rclrt": 1,
    "kind": "overheads",
    "executors": {
        "preemptive": {
            "dispatch_us": {"n": 1000, "min": 2, "p50": 3, "p99": 5, "max": 40},
            "timer_lateness_us": {"n": 1000, "p50": 10, "p99": 20, "max": 300.5},
        },
        "thread_dispatch": {"dispatch_us": 30, "timer_lateness_us": 50, "scheduler_us": 8},
    },
    "hop_us": {"intra_process": {"min": 4, "p99": 60, "max": 90}, "same_host": 500},
}
