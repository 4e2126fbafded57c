# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over our C++ files, and checks that every header compiles alone.

Uses the compile commands of a finished build, so that both checks see the compiler's input. Tests
are checked in the batches in which the build compiles them, other sources one by one, because each
must include what it uses. A header that such a source includes before anything else compiles alone
if the source does; each other header is compiled. A check that passed is recorded by the content of
its files in <build>/lint, and repeated only after a change.
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
    """A command for some files that must succeed."""

    tool: str
    files: list[Path]
    command: list[str]
    stdin: str = ""

    @property
    def name(self) -> str:
        return f"{self.tool} {', '.join(str(file.relative_to(ROOT)) for file in self.files)}"

    def concerns(self, prefixes: list[str]) -> bool:
        names = [str(file.relative_to(ROOT)) for file in self.files]
        return not prefixes or any(n.startswith(p) for n in names for p in prefixes)

    def key(self, surroundings: str) -> str:
        contents = [file.read_text() for file in self.files]
        text = "\0".join([surroundings, *contents, *self.command, self.stdin])
        return hashlib.sha256(text.encode()).hexdigest()


def is_ours(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / top) for top in ("src", "bench", "test"))


def batch(source: Path) -> list[Path]:
    """Returns our files that a source compiles: those of a unity source of CMake, or itself."""
    if source.name.startswith("unity_") and not is_ours(source) and source.is_file():
        included = re.findall(r'^#include "(.+)"$', source.read_text(), re.MULTILINE)
        files = [Path(file) for file in included]
    else:
        files = [source]
    return [file for file in files if is_ours(file) and file.is_file()]


def checked_entries(entry: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yields what clang-tidy checks of an entry: a batch of tests whole, other files one by one."""
    source = Path(entry["file"])
    files = batch(source)
    if files == [source] or (files and all("test" in file.parts for file in files)):
        yield entry
        return
    for file in files:
        command = entry["command"].replace(entry["file"], str(file))
        yield {**entry, "file": str(file), "command": command}


def compile_commands(build: Path) -> dict[Path, list[dict[str, str]]]:
    """Returns the compile commands of our own files, by the package's source directory.

    A file that several packages compile has the flags of its own package. Precompiled headers are
    left out, because each file must include what it uses.
    """
    packages: dict[Path, list[dict[str, str]]] = {}
    for database in sorted(build.glob("*/compile_commands.json")):
        entries = json.loads(database.read_text())
        entries = [each for entry in entries for each in checked_entries(entry)]
        own = build / "lint" / database.parent.name
        own.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            # clang-tidy does not know options that only GCC has.
            entry["command"] = re.sub(
                r" -Winvalid-pch -include \S+| -fno-gnu-unique| --param=\S+", "", entry["command"]
            )
        (own / database.name).write_text(json.dumps(entries))
        for entry in entries:
            entry["database"] = str(own)
            first = batch(Path(entry["file"]))[0]
            package = next(p for p in first.parents if (p / "package.xml").is_file())
            if package.name == database.parent.name:
                packages.setdefault(package, []).append(entry)
    return packages


# clang-tidy takes the files of a batch for headers that a source with a strange name includes.
IN_A_BATCH = [
    r"--header-filter=/(src|bench)/rclrt.*\.[ch]pp$",
    "--checks=-bugprone-suspicious-include",
]


def tidy_checks(entries: list[dict[str, str]]) -> Iterator[Check]:
    for source in sorted({entry["file"]: entry for entry in entries}.values(), key=str):
        files = batch(Path(source["file"]))
        yield Check(
            "clang-tidy",
            files,
            [
                "clang-tidy",
                "--quiet",
                "--extra-arg=-Wno-unknown-warning-option",
                # libstdc++'s stable_sort uses a function that libstdc++ deprecates.
                "--extra-arg=-Wno-deprecated-declarations",
                # The macros of benchmark.h use __COUNTER__.
                "--extra-arg=-Wno-c2y-extensions",
                *(IN_A_BATCH if files != [Path(source["file"])] else []),
                "-p",
                source["database"],
                source["file"],
            ],
        )


def first_included(entry: dict[str, str]) -> Path | None:
    """Returns the file that an entry includes before anything else, if the name is in quotes."""
    source = batch(Path(entry["file"]))[0]
    found = re.search(r"^\s*#.*", source.read_text(), re.MULTILINE)
    name = re.match(r'\s*#include "(.+)"', found[0]) if found else None
    if name is None:
        return None
    folders = [str(source.parent), *re.findall(r" -I *(\S+)", entry["command"])]
    files = (Path(folder, name[1]) for folder in folders)
    return next((file.resolve() for file in files if file.is_file()), None)


def common_length(entry: dict[str, str], header: Path) -> int:
    """Returns how much of its path a header shares with what an entry compiles."""
    return len(os.path.commonpath([*map(str, batch(Path(entry["file"]))), str(header)]))


def header_checks(
    package: Path, entries: list[dict[str, str]], tidied: set[Path]
) -> Iterator[Check]:
    """Yields a check per header: an empty file includes it twice, with the flags of a nearby file.

    Headers that begin a source of `tidied`, which clang-tidy compiles, are left out. If the build
    compiles no source beside a header, a dependency of both is not installed, and the header is
    skipped, too.
    """
    compiled = {file for entry in entries for file in batch(Path(entry["file"]))}
    checked = {
        first_included(entry) for entry in entries if tidied & set(batch(Path(entry["file"])))
    }
    for header in sorted(package.glob("**/*.hpp")):
        if header in checked and "#pragma once" in header.read_text():
            continue
        beside = set(header.parent.glob("*.cpp"))
        if beside and not beside & compiled:
            continue
        nearest = max(entries, key=lambda e: common_length(e, header))
        words = shlex.split(nearest["command"])
        flags = [w for w in words[1:] if w.startswith(("-D", "-I", "-std", "-W", "-f"))]
        systems = [words[i + 1] for i, w in enumerate(words) if w == "-isystem"]
        flags += [flag for path in systems for flag in ("-isystem", path)]
        yield Check(
            "header",
            [header],
            [words[0], *flags, "-Werror", "-fsyntax-only", "-x", "c++", "-"],
            f'#include "{header}"\n#include "{header}"\n',
        )


def main(build: Path, prefixes: list[str]) -> int:
    packages = compile_commands(build)
    checks: list[Check] = []
    for package, entries in packages.items():
        tidy = [check for check in tidy_checks(entries) if check.concerns(prefixes)]
        tidied = {file for check in tidy for file in check.files}
        headers_alone = header_checks(package, entries, tidied)
        checks += [*tidy, *(check for check in headers_alone if check.concerns(prefixes))]
    headers = [h for package in packages for h in sorted(package.glob("**/*.hpp"))]
    surroundings = "\0".join(p.read_text() for p in [ROOT / ".clang-tidy", *headers])
    passed = build / "lint"
    passed.mkdir(exist_ok=True)
    (passed / "COLCON_IGNORE").touch()

    def run(check: Check) -> str | None:
        """Returns the error, or None if the check passed."""
        mark = passed / check.key(surroundings)
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
