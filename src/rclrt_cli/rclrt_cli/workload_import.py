# SPDX-License-Identifier: Apache-2.0
"""Makes workloads of a tree of programs in C, such as TACLeBench's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import BadInput

NAME = re.compile(r"[A-Za-z]\w{0,63}", re.ASCII)
MAIN = re.compile(r"\bmain\s*\(")
ENTRY = "rclrt_workload_main"
"""What the program's main() becomes, which the library rclrt_workloads looks for."""
OPTIONS = ("-O2", "-fPIC", "-shared", "-w", f"-Dmain={ENTRY}", "-Wl,-Bsymbolic", "-Wl,-z,defs")
COMPILING_S = 120
TRIAL_S = 60
TRIALS = 3


@dataclass(frozen=True)
class Program:
    """A directory whose C files are one program."""

    name: str
    sources: tuple[Path, ...]


@dataclass(frozen=True)
class Skipped:
    """What became no workload, and why."""

    name: str
    reason: str


def find_programs(tree: Path) -> list[Program]:
    """The directories of the tree with C files of which one has main(); sorted by name. Throws
    BadInput when there are none, or two of one name."""
    if not tree.is_dir():
        raise BadInput(f"{tree}: is no directory; expected a tree of programs in C")
    found: dict[str, Program] = {}
    for directory in sorted({path.parent for path in tree.rglob("*.c") if path.is_file()}):
        sources = tuple(sorted(path for path in directory.glob("*.c") if path.is_file()))
        if not any(MAIN.search(path.read_text(errors="replace")) for path in sources):
            continue
        name = directory.resolve().name
        if name in found:
            raise BadInput(
                f"{directory}: '{name}' is also {found[name].sources[0].parent}; expected programs "
                "of different names: import one group of them at a time"
            )
        found[name] = Program(name, sources)
    if not found:
        raise BadInput(f"{tree}: no directory in it has C files with a main()")
    return [found[name] for name in sorted(found)]


def import_program(program: Program, directory: Path, timer: Path, compiler: str) -> str | None:
    """Compiles it to NAME.so in `directory` and tries it. Returns why that is no workload, and
    leaves nothing then; None: it is one."""
    if not NAME.fullmatch(program.name) or "__" in program.name:
        return "its name is not of letters, digits and single '_'"
    library = directory / f"{program.name}.so"
    # The sources are paths of files that exist, and begin with the tree's: none reads as an option.
    sources = [str(path.resolve()) for path in program.sources]
    include = f"-I{program.sources[0].parent.resolve()}"
    problem = _run([compiler, *OPTIONS, include, *sources, "-lm", "-o", str(library)], COMPILING_S)
    if problem is None:
        own = dict(os.environ, RCLRT_WORKLOAD_PATH=str(directory))
        problem = _run([str(timer), "time", str(TRIALS), program.name], TRIAL_S, own)
    if problem is not None:
        library.unlink(missing_ok=True)
    return problem


def imported(directory: Path) -> Iterator[str]:
    """The workloads in a directory that import_program() filled."""
    for path in sorted(directory.glob("*.so")):
        if NAME.fullmatch(path.stem):
            yield path.stem


def find_compiler(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise BadInput(f"--compiler {name}: is not on the PATH; install gcc, or name another one")
    return found


def _run(
    command: list[str], seconds: float, environment: dict[str, str] | None = None
) -> str | None:
    """What went wrong, in a line; None: nothing."""
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{Path(command[0]).name} took more than {seconds:g} s"
    if done.returncode == 0:
        return None
    said = done.stderr.decode(errors="replace").strip().splitlines()
    telling = next((line for line in said if "error" in line), said[-1] if said else "")
    return f"{Path(command[0]).name} ended with {done.returncode}: {telling}".rstrip(": ")
