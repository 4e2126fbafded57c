# SPDX-License-Identifier: Apache-2.0
"""Runs the exercises, and puts their tables and pictures into docs/tutorial.

tools/env python3 bench/publish_exercises.py              all, flaw and fix in turn
tools/env python3 bench/publish_exercises.py 2-1 3-2      these; the others stay as they are
tools/env python3 bench/publish_exercises.py --seconds 5  of each variant; default 10
tools/env python3 bench/publish_exercises.py --client rclcpp    those on rclcpp, where it is
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rclrt_demos.exercise_table import HEADS, cells, rows
from rclrt_demos.exercises import (
    BASELINE,
    CLIENTS,
    EXERCISES,
    RCLRT,
    SOLUTION,
    VARIANTS,
    Exercise,
    Measure,
    Published,
    find_exercise,
)
from rclrt_demos.measurement import measure
from rclrt_demos.rounds import Outcome, interleaved
from rclrt_demos.verdict import effect_of, micro, sentences
from rclrt_py.arguments import seconds_argument
from rclrt_py.errors import RclrtError
from rclrt_py.files.atomic import write_atomically
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.table import markdown_lines
from results_page import begin, end, replaced

from rclrt_demos import histogram, pendulum_picture

TUTORIAL = Path(__file__).resolve().parent.parent / "docs" / "tutorial"
FIGURES = TUTORIAL / "figures"
MEASURED = FIGURES / "exercises.json"
SCRIPT = Path(__file__).name
SECONDS, ROUNDS = 10.0, 5
UNDER_STRESS = {"3-1": (False, True), "3-2": (True, False), "4-1": (False,), "4-2": (False,)}
"""Whether an exercise is run under stress, as in the workshop; both if it compares the two."""
USUALLY = (True,)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Puts measured exercises into docs/tutorial.")
    parser.add_argument("names", nargs="*", metavar="N", help="exercises; default: all")
    parser.add_argument("--seconds", type=seconds_argument, default=SECONDS)
    parser.add_argument("--client", choices=CLIENTS, default=RCLRT)
    parsed = parser.parse_args(arguments)
    try:
        exercises = chosen(parsed.names, parsed.client)
        with StopSignals() as stop:
            for exercise in exercises:
                if not publish(exercise, parsed.seconds, stop):
                    return stop.exit_code
    except RclrtError as error:
        print(f"{SCRIPT}: {error}", file=sys.stderr)
        return error.exit_code
    write_section(TUTORIAL / "README.md", "the exercises", list(overview()))
    return 0


def chosen(names: Sequence[str], client: str) -> list[Exercise]:
    """Throws BadInput for an unknown name, or one that this client library does not have."""
    if names:
        return [find_exercise(name).on_client(client) for name in names]
    return [each.on_client(client) for each in EXERCISES if client == RCLRT or each.on_rclcpp]


def publish(exercise: Exercise, seconds: float, stop: StopSignals) -> bool:
    """Runs an exercise and writes its chapter. Returns False if the user asked to stop."""
    lines: list[str] = []
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for number, stress in enumerate(UNDER_STRESS.get(exercise.name, USUALLY)):
        load = os.getloadavg()[0]
        with tempfile.TemporaryDirectory(prefix="rclrt-exercise-") as staging:
            order = interleaved(VARIANTS, ROUNDS)
            outcome = measure(exercise, order, seconds / ROUNDS, Path(staging), stress, stop)
        if outcome is None:
            return False
        if number == 0:
            measured[exercise.full_name(exercise.name)] = summary(outcome)
        lines += chapter(outcome, seconds, load, "" if number == 0 else "-2")
    write_atomically(MEASURED, json.dumps(measured, indent=1, sort_keys=True) + "\n")
    section = exercise.name if exercise.client == RCLRT else f"{exercise.name} on {exercise.client}"
    write_section(TUTORIAL / f"exercise-{exercise.name}.md", section, lines)
    return True


def summary(outcome: Outcome) -> dict[str, Any]:
    effect = effect_of(outcome)
    return {
        "flaw_us": effect.flaw_us,
        "fix_us": effect.fix_us,
        "shown": effect.shown.value,
        "stress": bool(outcome.stress),
        "rows": rows(outcome),
    }


def chapter(outcome: Outcome, seconds: float, load: float, suffix: str) -> Iterator[str]:
    exercise = outcome.exercise
    options = "" if exercise.client == RCLRT else f"--client {exercise.client} "
    options += "--compare --stress" if outcome.stress else "--compare"
    yield f"`rclrt exercise {exercise.name} {options} --seconds {seconds:g}`, {conditions(load)}:"
    yield ""
    yield from markdown(HEADS, list(cells(outcome)))
    yield ""
    yield from map(escaped, sentences(outcome))
    yield ""
    name = exercise.full_name(f"exercise-{exercise.name}") + suffix
    yield picture(f"{name}.svg", histogram.draw(outcome), f"{exercise.slice_name}, flaw and fix")
    pendulum = pendulum_picture.draw(outcome)
    if pendulum:
        yield ""
        yield picture(f"{name}-pendulum.svg", pendulum, "The pendulum, flaw and fix")
    yield ""


def conditions(load: float) -> str:
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    return (
        f"{day}, Linux {os.uname().release}, {os.cpu_count()} CPUs{virtual()}, load "
        f"{load:.1f} before"
    )


def virtual() -> str:
    """Returns the kernel's information about a hypervisor below it."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return " of a virtual machine" if re.search(r"^flags\b.*\bhypervisor\b", flags, re.M) else ""


def picture(name: str, svg: str, words: str) -> str:
    FIGURES.mkdir(exist_ok=True)
    write_atomically(FIGURES / name, svg)
    return f"![{words}](figures/{name})"


def overview() -> Iterator[str]:
    """Returns a row for each exercise that has been measured."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    heads = ("exercise", "what is compared", "flaw", "fix", "workshop's flaw", "fix", "shows")
    lines = []
    for exercise in EXERCISES:
        found = measured.get(exercise.name)
        if found is None:
            continue
        lines.append(
            [
                f"[{exercise.name}](exercise-{exercise.name}.md)",
                f"{exercise.measure.value} {exercise.slice_name}",
                micro(found["flaw_us"]),
                micro(found["fix_us"]),
                *(_published(exercise, variant) for variant in (BASELINE, SOLUTION)),
                found["shown"],
            ]
        )
    yield from markdown(heads, lines)


def _published(exercise: Exercise, variant: str) -> str:
    published = exercise.published.get(variant, Published())
    low, mean, high = published.min_us, published.mean_us, published.max_us
    value = high if exercise.measure is Measure.MAX else mean
    if exercise.measure is Measure.SPREAD and high is not None and low is not None:
        value = high - low
    if value is None and high is not None and low is not None:
        return f"min to max: {low:.0f} to {high:.0f} µs"
    return "-" if value is None else f"{value:.0f} µs"


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    return markdown_lines([*map(escaped, heads)], ([*map(escaped, row)] for row in lines))


def escaped(words: str) -> str:
    """Escapes the text: Markdown would read `atomic<double>` as a tag."""
    return words.replace("<", "&lt;")


def write_section(page: Path, section: str, lines: Sequence[str]) -> None:
    made = "\n".join(lines).strip()
    text = page.read_text(encoding="utf-8")
    text = replaced(text, begin(section, SCRIPT), end(section), made)
    write_atomically(page, text)
    print(page)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
