# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over our C++ files, and checks that every header compiles alone.

Uses the compile commands of a finished build, so that both checks see the compiler's input. A file
that passed is recorded by its content in <build>/lint, and checked again only after a change.
Usage: lint_cpp.py BUILD_DIR [PATH_PREFIX...]
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Check:
    """A command for one file that must succeed."""

    name: str
    command: list[str]
    stdin: str = ""

    def key(self, surroundings: str) -> str:
        text = "\0".join([surroundings, *self.command, self.stdin])
        return hashlib.sha256(text.encode()).hexdigest()


def is_ours(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / top) for top in ("src", "bench", "test"))


def single_files(entry: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yields the entry of a file; for a unity source of CMake, the entries of its files."""
    source = Path(entry["file"])
    if not source.name.startswith("unity_") or is_ours(source) or not source.is_file():
        yield entry
        return
    for single in re.findall(r'^#include "(.+)"$', source.read_text(), re.MULTILINE):
        yield {
            **entry,
            "file": single,
            "command": entry["command"].replace(entry["file"], single),
        }


def compile_commands(build: Path) -> dict[Path, list[dict[str, str]]]:
    """Returns the compile commands of our own files, by the package's source directory.

    A file that several packages compile has the flags of its own package. Precompiled headers are
    left out, because each file must include what it uses.
    """
    packages: dict[Path, list[dict[str, str]]] = {}
    for database in sorted(build.glob("*/compile_commands.json")):
        entries = json.loads(database.read_text())
        entries = [each for entry in entries for each in single_files(entry)]
        own = build / "lint" / database.parent.name
        own.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            # clang-tidy does not know options that only GCC has.
            entry["command"] = re.sub(
                r" -Winvalid-pch -include \S+| -fno-gnu-unique", "", entry["command"]
            )
        (own / database.name).write_text(json.dumps(entries))
        for entry in entries:
            entry["database"] = str(own)
            source = Path(entry["file"])
            if is_ours(source) and source.is_file():
                package = next(p for p in source.parents if (p / "package.xml").is_file())
                if package.name == database.parent.name:
                    packages.setdefault(package, []).append(entry)
    return packages


def tidy_checks(entries: list[dict[str, str]]) -> Iterator[Check]:
    for source in sorted({entry["file"]: entry for entry in entries}.values(), key=str):
        yield Check(
            f"clang-tidy {Path(source['file']).relative_to(ROOT)}",
            [
                "clang-tidy",
                "--quiet",
                "--extra-arg=-Wno-unknown-warning-option",
                # libstdc++'s stable_sort uses a function that libstdc++ deprecates.
                "--extra-arg=-Wno-deprecated-declarations",
                # The macros of benchmark.h use __COUNTER__.
                "--extra-arg=-Wno-c2y-extensions",
                "-p",
                source["database"],
                source["file"],
            ],
        )


def header_checks(package: Path, entries: list[dict[str, str]]) -> Iterator[Check]:
    """Yields a check per header: an empty file includes it twice, with the flags of a nearby file.

    If the build compiles no source beside a header, a dependency of both is not installed, and the
    header is skipped.
    """
    compiled = {Path(entry["file"]) for entry in entries}
    for header in sorted(package.glob("**/*.hpp")):
        beside = set(header.parent.glob("*.cpp"))
        if beside and not beside & compiled:
            continue
        nearest = max(entries, key=lambda e: len(os.path.commonpath([e["file"], str(header)])))
        words = shlex.split(nearest["command"])
        flags = [w for w in words[1:] if w.startswith(("-D", "-I", "-std", "-W", "-f"))]
        systems = [words[i + 1] for i, w in enumerate(words) if w == "-isystem"]
        flags += [flag for path in systems for flag in ("-isystem", path)]
        yield Check(
            f"header {header.relative_to(ROOT)}",
            [words[0], *flags, "-Werror", "-fsyntax-only", "-x", "c++", "-"],
            f'#include "{header}"\n#include "{header}"\n',
        )


def main(build: Path, prefixes: list[str]) -> int:
    packages = compile_commands(build)
    checks = [
        check
        for package, entries in packages.items()
        for check in (*tidy_checks(entries), *header_checks(package, entries))
        if not prefixes or any(check.name.split()[1].startswith(p) for p in prefixes)
    ]
    headers = [h for package in packages for h in sorted(package.glob("**/*.hpp"))]
    surroundings = "\0".join(p.read_text() for p in [ROOT / ".clang-tidy", *headers])
    passed = build / "lint"
    passed.mkdir(exist_ok=True)
    (passed / "COLCON_IGNORE").touch()

    def run(check: Check) -> str | None:
        """Returns the error, or None if the check passed."""
        source = Path(check.command[-1])
        content = source.read_text() if source.is_file() else ""
        mark = passed / check.key(surroundings + content)
        if mark.exists():
            return None
        result = subprocess.run(
            check.command, input=check.stdin, capture_output=True, text=True, cwd=ROOT
        )
        if result.returncode == 0:
            mark.touch()
            return None
        return f"{check.name}:\n{result.stdout}{result.stderr}"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for problem in pool.map(run, checks) if problem]
    print("\n".join(problems), end="")
    print(f"{len(checks)} C++ checks, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
