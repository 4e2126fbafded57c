# SPDX-License-Identifier: Apache-2.0
"""Checks what a release needs of each package, beside the checks of lint_packages.py.

* The project's licence is in LICENSE, and is a licence of every package. A package with files of
  other authors, which have a licence file beside them, states that licence, too, with its file.
* Every package.xml is valid, with the address of a maintainer. Descriptions end as sentences.
* No package refers to files beside its own directory: a released package is alone. A pattern of
  files (`file(GLOB)`) may, because it may match none.
* With --final, for the version that is about to be tagged: no change is left below `Forthcoming`
  and `[Unreleased]`, and there is no tag of this version.

Points that only a person can decide are printed as `open`, and are problems with --final: an
address in a domain that is reserved for examples, and the address of the repository.

Usage: release_check.py [--final]
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import lint_packages
from catkin_pkg.package import Package

LICENCE = "Apache-2.0"
SIGNS = {
    "Apache-2.0": "Apache License",
    "MIT": "Permission is hereby granted, free of charge",
    "BSD": "Redistribution and use in source and binary forms",
}
"""Words by which the text of a licence is recognised."""
RESERVED = re.compile(r"(^|[.@])(example(\.(com|net|org))?|invalid|localhost|test)$")
"""Domains that are reserved for examples and tests (RFC 2606)."""
UPWARDS = re.compile(
    r"(?:\$\{(?P<base>CMAKE_CURRENT|PROJECT)_SOURCE_DIR\}/|(?<![\w$}/.;]))(?P<path>(?:\.\./)+[\w./-]*)"
)
"""A path that leads upwards, from the directory of the file or of the package."""
FORTHCOMING = re.compile(r"(?m)^(?:Forthcoming|## \[Unreleased\])$")


def licence_of(path: Path) -> str | None:
    """Returns the identifier of the licence in a file. None: it is not known."""
    text = " ".join(path.read_text(encoding="utf-8", errors="replace").split())
    return next((name for name, sign in SIGNS.items() if sign in text), None)


def licence_problems(root: Path, packages: dict[Path, Package]) -> Iterator[str]:
    if not (root / "LICENSE").is_file() or licence_of(root / "LICENSE") != LICENCE:
        yield f"LICENSE: is not the text of {LICENCE}"
    for directory, package in packages.items():
        manifest = f"{directory.relative_to(root)}/package.xml"
        stated = {str(each): each.file for each in package.licenses}
        if LICENCE not in stated:
            yield f"{manifest}: expected <license>{LICENCE}</license>"
        for path in sorted(directory.rglob("LICEN[CS]E*")):
            found, place = licence_of(path), path.relative_to(directory)
            if found is None:
                yield f"{path.relative_to(root)}: a licence that release_check.py does not know"
            elif stated.get(found) != str(place) and (found != LICENCE or found not in stated):
                yield f'{manifest}: expected <license file="{place}">{found}</license>'
        yield from (
            f"{manifest}: there is no {file}"
            for file in stated.values()
            if file is not None and not (directory / file).is_file()
        )


def description_problems(root: Path, packages: dict[Path, Package]) -> Iterator[str]:
    for directory, package in packages.items():
        manifest = f"{directory.relative_to(root)}/package.xml"
        if not package.description.rstrip().endswith("."):
            yield f"{manifest}: the description is no sentence: {package.description!r}"


def outside_problems(root: Path, packages: dict[Path, Package]) -> Iterator[str]:
    """Yields the lines of build files, those of tests left out, with paths to other packages."""
    for directory in packages:
        if directory.parent.name != "src":
            continue  # the benchmarks and this project's tests are not released
        for path in sorted([*directory.rglob("CMakeLists.txt"), *directory.glob("setup.*")]):
            if "test" in path.relative_to(directory).parts:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.partition("#")[0]
                if code.lstrip().startswith("file(GLOB "):
                    continue
                if any(leads_outside(each, path, directory) for each in UPWARDS.finditer(code)):
                    yield (
                        f"{path.relative_to(root)}:{number}: refers to a file outside of the "
                        "package, which a released one does not have"
                    )


def leads_outside(found: re.Match[str], file: Path, package: Path) -> bool:
    base = package if found["base"] == "PROJECT" else file.parent
    return not (base / found["path"]).resolve().is_relative_to(package.resolve())


def open_points(packages: dict[Path, Package]) -> Iterator[str]:
    reserved = {
        str(each.email)
        for package in packages.values()
        for each in package.maintainers
        if each.email and RESERVED.search(each.email)
    }
    for email in sorted(reserved):
        yield f"the maintainer's address {email} is reserved for examples; state a real one"
    if not all(any(url.type == "repository" for url in each.urls) for each in packages.values()):
        yield 'no <url type="repository"> in every package.xml; bloom would name index.ros.org'


def final_problems(root: Path, version: str) -> Iterator[str]:
    for path in [root / "CHANGELOG.md", *sorted(root.glob("*/*/CHANGELOG.rst"))]:
        if FORTHCOMING.search(path.read_text()):
            yield f"{path.relative_to(root)}: has changes that are of no version yet"
    tags = subprocess.run(
        ["git", "tag", "--list", version], cwd=root, capture_output=True, text=True, check=True
    )
    if tags.stdout.strip():
        yield f"the tag {version} exists already; state a new version in every package.xml"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Checks what a release needs of each package.")
    parser.add_argument("--final", action="store_true", help="for the version to be tagged now")
    final = parser.parse_args(arguments).final
    root = lint_packages.ROOT
    problems: list[str] = []
    packages = lint_packages.read_packages(problems)
    problems += licence_problems(root, packages)
    problems += description_problems(root, packages)
    problems += outside_problems(root, packages)
    undecided = list(open_points(packages))
    if final:
        problems += final_problems(root, next(iter(packages.values())).version)
        problems += undecided
    else:
        print("".join(f"open: {each}\n" for each in undecided), end="")
    print("".join(f"{each}\n" for each in problems), end="")
    print(f"{len(packages)} packages, {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
