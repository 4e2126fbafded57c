# SPDX-License-Identifier: Apache-2.0
"""Makes workloads from a tree of C programs, such as TACLeBench's."""

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
"""New name of the program's main(). The library rclrt_workloads looks for it."""
OPTIONS = ("-O2", "-fPIC", "-shared", "-w", f"-Dmain={ENTRY}", "-Wl,-Bsymbolic", "-Wl,-z,defs")
COMPILING_S = 120
TRIAL_S = 60
TRIALS = 3


@dataclass(frozen=True)
class Program:
    """A directory with the C files of one program."""

    name: str
    sources: tuple[Path, ...]


@dataclass(frozen=True)
class Skipped:
    """A program that did not become a workload, and the reason."""

    name: str
    reason: str


def find_programs(tree: Path) -> list[Program]:
    """Returns the programs in `tree`: the directories with C files, at least one of them with a
    main(), sorted by name. Throws BadInput if there are none, or if two have the same name."""
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
        raise BadInput(
            f"{tree}: no directory in it has C files with a main(); name a tree of C programs"
        )
    return [found[name] for name in sorted(found)]


def import_program(program: Program, directory: Path, timer: Path, compiler: str) -> str | None:
    """Compiles the program to the library NAME.so in `directory` and runs it once with `timer`.
    Returns None on success. Otherwise removes the library and returns the reason."""
    if not NAME.fullmatch(program.name) or "__" in program.name:
        return "its name is not of letters, digits and single '_'"
    library = directory / f"{program.name}.so"
    # No source can be read as a compiler option: each is the absolute path of an existing file.
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
    """Yields the workloads in a directory that import_program() filled."""
    for path in sorted(directory.glob("*.so")):
        if NAME.fullmatch(path.stem):
            yield path.stem


def find_compiler(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise BadInput(f"--compiler {name}: is not on the PATH; install it, or name another one")
    return found


def _run(
    command: list[str], seconds: float, environment: dict[str, str] | None = None
) -> str | None:
    """Runs a command. Returns the error in one line. None: there was no error."""
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
