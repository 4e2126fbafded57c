# SPDX-License-Identifier: Apache-2.0
"""Checks each package for a release: package.xml, version, changelog, dependencies.

* Every package.xml is valid. All packages and the `rclrt` command have the same version.
* Every package has a CHANGELOG.rst that bloom can read. Its newest version is the package's. The
  project's CHANGELOG.md has this version with the same day.
* Changes that are not released take one line each in these files.
* Every dependency is a package of ours or is listed in docs/reference/dependencies.md. Each
  entry there is used. The Debian packages listed there are those that tools/setup installs.
* docs/explanation/architecture.md lists our packages that each package in src uses.
* Python modules import only those of our packages that their package.xml lists. Tests import
  neither another test nor a conftest.py: code that several tests need is in a module.
* Neither packages nor Python modules use each other in a circle, imports for types included.
"""

import ast
import contextlib
import io
import re
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from catkin_pkg.changelog import DuplicateVersionsException, get_changelog_from_path
from catkin_pkg.package import InvalidPackage, Package, parse_package

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = ROOT / "CHANGELOG.md"
MAX_ENTRY = 120
UNRELEASED = re.compile(
    r"(?ms)^(?:## \[Unreleased\]|Forthcoming\n-+)\n(?P<entries>.*?)"
    r"(?=^## \[\d|^\d+\.\d+\.\d+ \(|\Z)"
)
DEPENDENCIES = ROOT / "docs/reference/dependencies.md"
ARCHITECTURE = ROOT / "docs/explanation/architecture.md"
SETUP = ROOT / "tools/setup"
BUILD_TOOL = "rclrt_cmake"
COMMAND = ROOT / "src/rclrt_py/rclrt_py/__init__.py"
BASES = ("src", "bench", "test")
KINDS = ("build", "buildtool", "build_export", "buildtool_export", "exec", "test", "doc")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read_packages(problems: list[str]) -> dict[Path, Package]:
    """Returns every valid package by its directory. Adds the errors of the others to `problems`."""
    packages = {}
    manifests = (path for base in BASES for path in ROOT.glob(f"{base}/*/package.xml"))
    for manifest in sorted(manifests):
        warnings: list[str] = []
        try:
            packages[manifest.parent] = parse_package(manifest, warnings=warnings)
        except InvalidPackage as error:
            warnings.append(str(error))
        problems += [f"{name_of(manifest)}: {warning}" for warning in warnings]
    return packages


def version_problems(packages: dict[Path, Package], version: str) -> Iterator[str]:
    for directory, package in packages.items():
        if package.version != version:
            yield (
                f"{name_of(directory)}/package.xml: version {package.version}; expected {version}, "
                "as of the other packages"
            )
    found = re.search(r'^__version__ = "(.*)"$', COMMAND.read_text(), re.MULTILINE)
    if found is None or found[1] != version:
        yield f'{name_of(COMMAND)}: expected __version__ = "{version}", as in package.xml'


def released(version: str) -> str | None:
    """Returns the day of a version in CHANGELOG.md."""
    pattern = rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$"
    found = re.search(pattern, CHANGELOG.read_text(), re.MULTILINE)
    return found[1] if found else None


def changelog_problems(directory: Path, package: Package) -> Iterator[str]:
    path = directory / "CHANGELOG.rst"
    if not path.is_file():
        yield f"{name_of(path)}: is missing; expected one per package"
        return
    title = f"Changelog for package {package.name}"
    if title not in path.read_text().splitlines()[:2]:
        yield f"{name_of(path)}: expected the title {title!r}"
    try:
        with contextlib.redirect_stderr(io.StringIO()) as complaints:  # docutils' messages
            changelog = get_changelog_from_path(directory, package.name)
    except DuplicateVersionsException as error:
        yield f"{name_of(path)}: {error}"
        return
    if complaints.getvalue():
        yield f"{name_of(path)}: {complaints.getvalue().strip()}"
    sections = list(changelog.foreach_version(reverse=True))
    newest = sections[0] if sections else None
    if newest is None or newest[0] != package.version:
        found = newest[0] if newest else "none"
        yield f"{name_of(path)}: newest version is {found}; expected {package.version}"
    elif f"{newest[1]:%Y-%m-%d}" != released(package.version):
        yield (
            f"{name_of(path)}: {package.version} is of {newest[1]:%Y-%m-%d}; {CHANGELOG.name} "
            f"says {released(package.version) or 'nothing of it'}"
        )
    yield from (f"{name_of(path)}: {s[0]} has no items" for s in sections if not s[2])
    yield from entry_problems(path, path.read_text())


def entry_problems(path: Path, text: str) -> Iterator[str]:
    """Yields the entries of changes that are not released yet and take more than one line."""
    section = UNRELEASED.search(text)
    if section is None:
        return
    first = text.count("\n", 0, section.start("entries")) + 1
    for number, line in enumerate(section["entries"].splitlines(), first):
        if line.startswith(" ") or len(line) > MAX_ENTRY:
            yield (
                f"{name_of(path)}:{number}: expected one line of at most {MAX_ENTRY} characters "
                "for each change, in the words of a user"
            )


def table(heading: str) -> dict[str, str]:
    """Returns the first two columns of the table below a heading of the dependencies."""
    _, _, text = DEPENDENCIES.read_text().partition(f"\n## {heading}\n")
    section = text.partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]*?) \|", section, re.MULTILINE))


def dependency_problems(packages: dict[Path, Package]) -> Iterator[str]:
    ours = {package.name for package in packages.values()}
    debian = table("From the distribution")
    known = debian.keys() | table("From ROS").keys()
    used = set()
    for directory, package in packages.items():
        names = {d.name for kind in KINDS for d in getattr(package, f"{kind}_depends")} - ours
        used |= names
        for name in sorted(names - known):
            yield (
                f"{name_of(directory)}/package.xml: {name} does not stand in "
                f"{name_of(DEPENDENCIES)}; expected a key of rosdep or a package of ROS from there"
            )
    for name in sorted(known - used):
        yield f"{name_of(DEPENDENCIES)}: {name} is in no package.xml; remove it"
    installed = re.findall(r"[\w.+-]+", SETUP.read_text())
    for key, entry in debian.items():
        package = entry.strip("`")
        if package not in installed and not package.startswith("python3-"):  # pip installs these
            yield f"{name_of(DEPENDENCIES)}: {key} is Debian's {package}; tools/setup has no such"


def architecture_problems(packages: dict[Path, Package]) -> Iterator[str]:
    rows = re.findall(r"^\| `(\w+)` \| ?([^|]*)\|$", ARCHITECTURE.read_text(), re.MULTILINE)
    stated = {name: set(re.findall(r"`(\w+)`", uses)) for name, uses in rows}
    ours = {package.name for package in packages.values()} - {BUILD_TOOL}
    inside = {
        package.name: {
            dependency.name
            for kind in KINDS
            if kind != "test"
            for dependency in getattr(package, f"{kind}_depends")
        }
        & ours
        for directory, package in packages.items()
        if directory.parent.name == "src" and package.name != BUILD_TOOL
    }
    for name in sorted(inside.keys() | stated.keys()):
        if stated.get(name) != inside.get(name):
            yield (
                f"{name_of(ARCHITECTURE)}: {name} uses {sorted(stated.get(name, ()))}; its "
                f"package.xml says {sorted(inside.get(name, ()))}"
            )


IMPORT = re.compile(r"^\s*(?:from|import) (\w+)(?:\.\w+)*", re.MULTILINE)


def import_problems(packages: dict[Path, Package]) -> Iterator[str]:
    ours = {package.name for package in packages.values()}
    for directory, package in packages.items():
        for path in sorted(directory.rglob("*.py")):
            in_test = "test" in path.relative_to(directory).parts
            imported = set(IMPORT.findall(path.read_text(encoding="utf-8")))
            kinds = KINDS if in_test else [kind for kind in KINDS if kind != "test"]
            named = {d.name for kind in kinds for d in getattr(package, f"{kind}_depends")}
            for name in sorted((imported & ours) - named - {package.name}):
                yield f"{name_of(path)}: imports {name}, which {package.name}/package.xml lacks"
            if in_test:
                for name in sorted(imported & tests_in(path.parent)):
                    yield f"{name_of(path)}: imports {name}; move what both need to a module"


def tests_in(directory: Path) -> set[str]:
    """Returns the modules of a directory that pytest collects, and its conftest."""
    patterns = ("*_test.py", "test_*.py", "conftest.py")
    return {path.stem for pattern in patterns for path in directory.glob(pattern)}


def module_name(path: Path, directory: Path) -> str:
    return ".".join(path.relative_to(directory).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> Iterator[str]:
    """Yields what a file imports: modules, and the names from modules, which may be modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (node.module, *names)


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Returns the nodes of a circle in order, the first one twice; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]  # from user to used
    return []


def circle_problems(packages: dict[Path, Package]) -> Iterator[str]:
    uses = {
        package.name: {
            dependency.name
            for kind in KINDS
            if kind != "test"
            for dependency in getattr(package, f"{kind}_depends")
        }
        for package in packages.values()
    }
    modules = {
        module_name(path, directory): path
        for directory, package in packages.items()
        for path in sorted((directory / package.name).rglob("*.py"))
    }
    # A package's own __init__.py, which each import of a module in it also reads, is left out.
    imports = {
        name: {
            each
            for each in imports_of(path)
            if each in modules and not f"{name}.".startswith(f"{each}.")
        }
        for name, path in modules.items()
    }
    for what, graph in (("packages", uses), ("modules", imports)):
        if found := circle(graph):
            yield f"{what} use each other in a circle: {' -> '.join(found)}"


def untested_problems(directory: Path) -> Iterator[str]:
    """Yields the test files of a package that no CMakeLists.txt of it names: they do not run."""
    lists = list(directory.rglob("CMakeLists.txt"))
    text = "\n".join(path.read_text() for path in lists)
    folders = [
        path.parent / folder
        for path in lists
        for folder in re.findall(r"rclrt_add_pytest\(\s*\S+\s+([^\s)]+)", path.read_text())
        if (path.parent / folder).is_dir()
    ]
    for path in sorted([*directory.rglob("*_test.cpp"), *directory.rglob("*_test.py")]):
        names = {path.stem, path.stem.removesuffix("_test")}
        if not any(folder in path.parents for folder in folders) and not any(
            re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) for name in names
        ):
            yield f"{path}: no CMakeLists.txt of the package names this test; it would not run"


def main() -> int:
    problems: list[str] = []
    packages = read_packages(problems)
    versions = [package.version for package in packages.values()]
    if not problems:
        problems += version_problems(packages, max(set(versions), key=versions.count))
        for directory, package in packages.items():
            problems += changelog_problems(directory, package)
            problems += untested_problems(directory)
        problems += entry_problems(CHANGELOG, CHANGELOG.read_text())
        problems += dependency_problems(packages)
        problems += architecture_problems(packages)
        problems += import_problems(packages)
        problems += circle_problems(packages)
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(packages)} packages, {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
