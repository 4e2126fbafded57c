# SPDX-License-Identifier: Apache-2.0
"""Makes the figures and listings of the tutorial's chapters on the slides' lessons.

Simulates the scenarios of docs/tutorial/scenarios and draws them as timelines, and puts into
docs/tutorial/wrong-code.md the output of the program whats_wrong.

tools/env python3 bench/publish_lessons.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.files.atomic import write_atomically
from rclrt_py.pages.svg import FAINT, GRID, INK, WIDTH, line, picture, text
from rclrt_py.processes.runner import find_program
from rclrt_py.runs.csv_reader import InstanceRow, read_instance_rows
from results_page import begin, end, replaced

from rclrt_model import Application, load

TUTORIAL = Path(__file__).resolve().parent.parent / "docs" / "tutorial"
SCENARIOS, FIGURES = TUTORIAL / "scenarios", TUTORIAL / "figures"
EXECUTORS = {
    "wait_set": "wait set (rclcpp semantics)",
    "preemptive": "preemptive, with the urgent callback's priority",
}
OTHERS, URGENT = "#8a8a8a", "#0072b2"
LENGTH_NS = 40_000_000
LEFT, RIGHT, TOP, ROW, PANEL_GAP = 110.0, 30.0, 50.0, 26.0, 54.0


@dataclass(frozen=True)
class Scenario:
    """An application, and its instances under each executor."""

    title: str
    callbacks: Sequence[str]
    """The callbacks of the executor `main`, in the order of their creation."""
    urgent: str
    instances: dict[str, list[InstanceRow]]


def main() -> int:
    for file in sorted(SCENARIOS.glob("*.yaml")):
        picture_file = FIGURES / f"order-{file.stem}.svg"
        write_atomically(picture_file, draw(load_scenario(file)))
        print(picture_file)
    write_section(TUTORIAL / "wrong-code.md", "whats_wrong", what_is_wrong())
    return 0


def what_is_wrong() -> list[str]:
    program = find_program(os.environ, "rclrt_demos", "whats_wrong")
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return ["```", *done.stdout.splitlines(), "```"]


def write_section(page: Path, section: str, lines: Sequence[str]) -> None:
    marks = begin(section, Path(__file__).name), end(section)
    text_before = page.read_text(encoding="utf-8")
    write_atomically(page, replaced(text_before, *marks, "\n".join(lines)))
    print(page)


def load_scenario(file: Path) -> Scenario:
    application = load(str(file))
    return Scenario(
        title=file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").rstrip("."),
        callbacks=callbacks_of_main(application),
        urgent=application.callbacks[application.chains[0].callbacks[-1]].id,
        instances={executor: simulate(file, executor) for executor in EXECUTORS},
    )


def callbacks_of_main(application: Application) -> list[str]:
    names = [each.name for each in application.executors]
    main_nodes = {
        number for number, node in enumerate(application.nodes) if names[node.executor] == "main"
    }
    return [each.id for each in application.callbacks if each.node in main_nodes]


def simulate(file: Path, executor: str) -> list[InstanceRow]:
    with tempfile.TemporaryDirectory(prefix="rclrt-order-") as name:
        out = Path(name) / "out"
        command = [sys.executable, "-m", "rclrt_cli", "simulate", str(file)]
        command += [
            "--executor",
            executor,
            "--seconds",
            f"{2 * LENGTH_NS / 1e9:g}",
            "--out",
            str(out),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return list(read_instance_rows(out / "instances.csv"))


def draw(scenario: Scenario) -> str:
    parts = [text(16, 24, scenario.title, bold=True, size=14)]
    top = TOP
    for executor, label in EXECUTORS.items():
        parts.append(text(16, top, label, INK))
        parts += panel(scenario, scenario.instances[executor], top + 12)
        top += ROW * len(scenario.callbacks) + PANEL_GAP
    key = "▼ message or timer is due · pale: it waits · full: its callback runs, or is preempted"
    parts.append(text(16, top - 12, key, FAINT))
    return picture(parts, top)


def panel(scenario: Scenario, rows: Sequence[InstanceRow], top: float) -> Iterator[str]:
    bottom = top + ROW * len(scenario.callbacks)
    for tick in range(0, LENGTH_NS + 1, 10_000_000):
        yield line(x(tick), top, x(tick), bottom, GRID)
        yield text(x(tick), bottom + 14, f"{tick // 1_000_000} ms", FAINT, "middle", size=11)
    for number, callback in enumerate(scenario.callbacks):
        y = top + ROW * number
        paint = URGENT if callback == scenario.urgent else OTHERS
        yield text(LEFT - 8, y + 18, callback, paint, "end", bold=callback == scenario.urgent)
        for row in rows:
            if row.callback == callback and row.start < LENGTH_NS:
                yield box(row.release, row.start, y, paint, 0.25)
                yield box(row.start, row.end, y, paint, 1.0)
                yield text(x(row.release), y + 7, "▼", paint, "middle", size=9)


def box(begin: int, end: int, y: float, paint: str, opacity: float) -> str:
    left, right = x(begin), x(min(end, LENGTH_NS))
    return (
        f'<rect x="{left:.1f}" y="{y + 8:.1f}" width="{max(right - left, 0.0):.1f}" '
        f'height="{ROW - 12:.1f}" fill="{paint}" fill-opacity="{opacity:g}"/>'
    )


def x(time_ns: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * time_ns / LENGTH_NS


if __name__ == "__main__":
    sys.exit(main())
