# SPDX-License-Identifier: Apache-2.0
"""Measures how fast the page of `rclrt plan` answers, in a real browser, for docs/results.

tools/env python3 bench/publish_plan.py            measures, prints, and writes
tools/env python3 bench/publish_plan.py --print    writes nothing
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rclrt_py.stats import nearest_rank
from rclrt_py.testing import browser as chromium
from rclrt_py.testing.browser import Browser
from rclrt_py.testing.plan_page import show
from rclrt_py.testing.plan_server import Plan, large, opened
from results_page import HERE, write_results

OPENED, CHANGES = 5, 60
SECTION = "the page"
EXAMPLES = ("autonomous_vehicle", "autoware_reference")
CHANGE = """
const [number, done] = arguments;
(async () => {
  const {id} = model().callbacks[Math.floor(model().callbacks.length / 2)];
  const times = [];
  for (let i = 0; i < number; ++i) {
    const begin = performance.now();
    await set(['callbacks', id, 'wcet_ms'], String((1 + i % 9) / 1000), `change ${i}`);
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)));
    times.push(performance.now() - begin);
  }
  done(times);
})();
"""
"""Changes an execution time `number` times. Each time ends when the answer is drawn."""


@dataclass(frozen=True)
class Speed:
    """Times in milliseconds. `cpu` is that of server, analysis and browser for one change."""

    callbacks: int
    complete: float
    changes: list[float]
    cpu: float


def measure(browser: Browser, plan: Plan) -> Speed:
    complete = []
    for _ in range(OPENED):
        show(browser, plan)
        complete.append(browser.run("return plan.readyAt"))
    browser.driver.set_script_timeout(600)
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before = _cpu_ms(browser, plan)
    changes = browser.driver.execute_async_script(CHANGE, CHANGES)
    cpu = (_cpu_ms(browser, plan) - before) / CHANGES
    number = browser.run("return model().callbacks.length")
    return Speed(number, statistics.median(complete), sorted(changes), cpu)


def _cpu_ms(browser: Browser, plan: Plan) -> float:
    """Returns the CPU time so far of this process, of the analysis and of the page's thread."""
    metrics: Any = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})
    page = next(each["value"] for each in metrics["metrics"] if each["name"] == "TaskDuration")
    fields = Path(f"/proc/{plan.server.session.worker.pid}/stat").read_text().rpartition(")")[2]
    ticks = sum(int(each) for each in fields.split()[11:13])
    total: float = time.process_time() + page + ticks / os.sysconf("SC_CLK_TCK")
    return total * 1e3


def applications() -> Iterator[tuple[str, str]]:
    """Yields names and texts."""
    for name in EXAMPLES:
        yield f"`{name}`", (HERE.parent / "examples" / name / "app.yaml").read_text()
    for nodes in (40, 200):
        yield f"{nodes} nodes in 8 namespaces, {nodes} chains", large(nodes)


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        browsers = chromium.start(place / "profile")
        browser = next(browsers)
        for name, text in applications():
            for plan in opened(place / "app.yaml", text):
                speed = measure(browser, plan)
                rows.append(
                    f"| {name} | {speed.callbacks} | {speed.complete / 1e3:.2f} | "
                    f"{statistics.median(speed.changes):.0f} | "
                    f"{nearest_rank(speed.changes, 95):.0f} | {speed.cpu:.0f} |"
                )
        next(browsers, None)
    made = "\n".join(
        [
            f"Measured {datetime.now(UTC):%Y-%m-%d}, Linux {platform.release()}, "
            f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; {OPENED} times opened, "
            f"{CHANGES} changes of an execution time.",
            "",
            "| application | callbacks | page complete, s | change, median ms | p95 ms | "
            "its CPU time, ms |",
            "| --- | --: | --: | --: | --: | --: |",
            *rows,
        ]
    )
    print(made)
    if "--print" not in sys.argv:
        write_results("analysis-speed.md", SECTION, Path(__file__).name, made)


if __name__ == "__main__":
    main()
