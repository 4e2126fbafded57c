# SPDX-License-Identifier: Apache-2.0
"""Programs with the measurements that a test needs, in place of those of the exercises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rclrt_demos.exercises import RCLRT, find_exercise

GENEROUS_S = 300  # only a program that hangs takes as long
PROGRAM = """\
#!{python}
import json, pathlib, signal, sys
here = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
variant = "solution" if "--solution" in arguments else "baseline"
with (here / "log").open("a") as log:
    print(variant, arguments[arguments.index("--seconds") + 1], file=log)
if (here / "hang").exists():
    signal.pause()
if (here / "fail").exists():
    sys.exit((here / "fail").read_text())
figures = json.loads((here / "figures").read_text())[variant]
file = pathlib.Path(arguments[arguments.index("--json") + 1])
file.write_text(json.dumps(figures))
pathlib.Path(arguments[arguments.index("--trace") + 1]).write_text(variant)
"""


def figures_of(
    variant: str, slices: Mapping[str, Sequence[int]], **more: object
) -> dict[str, object]:
    """The content of a program's JSON file."""
    made = [{"name": name, "values_ns": list(values)} for name, values in slices.items()]
    return {"variant": variant, "seconds": 1, "real_time": True, "slices": made} | more


class FakeProgram:
    """Stands in for the program of one exercise, in a workspace of its own."""

    def __init__(self, prefix: Path, name: str, client: str = RCLRT) -> None:
        self.prefix, self.exercise = prefix, find_exercise(name).on_client(client)
        self.directory = prefix / "lib" / "rclrt_demos"
        self.directory.mkdir(parents=True)
        program = self.directory / self.exercise.program
        program.write_text(PROGRAM.format(python=sys.executable))
        program.chmod(0o755)

    def measures(self, baseline: Sequence[int], solution: Sequence[int], **more: object) -> None:
        """Durations of the slice in question, in nanoseconds."""
        name = self.exercise.slice_name
        made = {
            "baseline": figures_of("baseline", {name: baseline}, **more),
            "solution": figures_of("solution", {name: solution}, **more),
        }
        (self.directory / "figures").write_text(json.dumps(made))

    def hangs(self) -> None:
        """It ends only by a signal."""
        (self.directory / "hang").touch()

    def fails(self, words: str) -> None:
        (self.directory / "fail").write_text(words)

    @property
    def log(self) -> list[str]:
        """A line for each start: variant and seconds."""
        file = self.directory / "log"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def environment(self) -> dict[str, str]:
        path = os.environ.get("AMENT_PREFIX_PATH", "")
        return os.environ | {"AMENT_PREFIX_PATH": f"{self.prefix}:{path}"}


def command_line(*arguments: str | Path | float) -> list[str]:
    return [sys.executable, "-m", "rclrt_cli", "exercise", *map(str, arguments)]


def call(
    directory: Path,
    *arguments: str | Path | float,
    environment: dict[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """The command as a user calls it in a directory, behind a command that changes its rights."""
    return subprocess.run(
        [*prefix, *command_line(*arguments)],
        cwd=directory, env=environment, capture_output=True, text=True, timeout=GENEROUS_S,
        check=False,
    )  # fmt: skip
