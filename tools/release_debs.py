# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian packages of a release as the build farm of ROS does, without its index.

* bloom writes the directory `debian` of every package in src, from the committed files. Its index
  of distributions and the keys of rosdep are files that this script makes: our packages, the
  packages of ROS and the keys in docs/reference/dependencies.md.
* With --build, dpkg-buildpackage makes source and binary packages of those that need no ROS, each
  from an upstream tarball, and checks their build dependencies. A package that others need is
  installed first, in a mount namespace of its own: the machine stays unchanged. This needs root.

Needs bloom and rosdep from PyPI on the PATH (a virtual environment, `pip install bloom`), and for
--build `apt-get install debhelper dpkg-dev`.

Usage: release_debs.py OUT [--distro jazzy] [--os debian:bookworm] [--build] [PACKAGE...]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import lint_packages
from catkin_pkg.package import Package

ROOT = lint_packages.ROOT
BUILD_KINDS = ("build", "buildtool", "build_export", "buildtool_export", "exec")
OVERLAID = ("opt", "usr", "var", "etc")
GENEROUS_S = 3600


class Failed(Exception):
    """A tool is missing or has failed. The text has the reason and the fix."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Makes the Debian packages of a release.")
    parser.add_argument("out", metavar="OUT", type=Path, help="a new directory")
    parser.add_argument("packages", metavar="PACKAGE", nargs="*", help="default: all in src")
    parser.add_argument("--distro", default="jazzy", help="of ROS 2; default: %(default)s")
    parser.add_argument("--os", default="debian:bookworm", help="default: %(default)s")
    parser.add_argument("--build", action="store_true", help="build those that need no ROS")
    parser.add_argument("--in-namespace", action="store_true", help=argparse.SUPPRESS)
    stated = parser.parse_args(arguments)
    out: Path = stated.out.resolve()
    try:
        packages = chosen(stated.packages)
        if stated.in_namespace:
            if Path("/proc/self/ns/mnt").samefile(f"/proc/{os.getppid()}/ns/mnt"):
                raise Failed("--in-namespace is for this script itself: use --build")
            build_all(out, packages, stated.distro)
            return 0
        check_tools(stated.build)
        if out.exists():
            raise Failed(f"{out}: exists already; name a new directory")
        if stated.build and out.parts[1] in OVERLAID:
            raise Failed(f"{out}: is below one of /{', /'.join(OVERLAID)}; name a place elsewhere")
        try:
            generate_all(out, packages, stated.distro, stated.os)
        except BaseException:
            shutil.rmtree(out, ignore_errors=True)
            raise
        if stated.build:
            this = [sys.executable, __file__, "--in-namespace", "--distro", stated.distro]
            run(["unshare", "--mount", *this, str(out), *stated.packages], ROOT, None)
    except Failed as error:
        print(f"release_debs.py: {error}", file=sys.stderr)
        return 1
    return 0


def chosen(names: Sequence[str]) -> dict[str, Package]:
    """Returns the packages in src by name; with names, these and those that they need."""
    problems: list[str] = []
    read = lint_packages.read_packages(problems)
    packages = {each.name: each for path, each in read.items() if path.parent.name == "src"}
    unknown = [name for name in names if name not in packages]
    if problems or unknown:
        raise Failed(problems[0] if problems else f"there is no package {unknown[0]} in src")
    wanted = set(names or packages)
    while missing := {each for name in wanted for each in needs(packages[name])} & (
        packages.keys() - wanted
    ):
        wanted |= missing
    return {name: packages[name] for name in sorted(wanted)}


def needs(package: Package) -> set[str]:
    """Returns all that a package needs to be built and to run."""
    return {each.name for kind in BUILD_KINDS for each in getattr(package, f"{kind}_depends")}


def without_ros(packages: Mapping[str, Package]) -> list[str]:
    """Returns the packages that need none of ROS, each after those that it needs."""
    debian = lint_packages.table("From the distribution").keys()
    order = TopologicalSorter(
        {name: needs(each) & packages.keys() for name, each in packages.items()}
    )
    free: list[str] = []
    for name in order.static_order():
        if needs(packages[name]) <= debian | set(free):
            free.append(name)
    return free


def check_tools(build: bool) -> None:
    fixes = {
        "bloom-generate": "pip install bloom, in a virtual environment",
        "rosdep": "pip install bloom, in a virtual environment",
    }
    if build:
        fixes |= {
            "dpkg-buildpackage": "apt-get install dpkg-dev",
            "dh": "apt-get install debhelper",
            "unshare": "apt-get install util-linux",
        }
        if os.geteuid() != 0:
            raise Failed("--build: mounts and installs packages; run it as root, in a container")
    for tool, fix in fixes.items():
        if shutil.which(tool) is None:
            raise Failed(f"{tool} is not on the PATH\n  fix: {fix}")


def generate_all(out: Path, packages: Mapping[str, Package], distro: str, system: str) -> None:
    """Exports the committed files and lets bloom write the directory `debian` of each package."""
    name, _, version = system.partition(":")
    source = out / "src"
    source.mkdir(parents=True)
    exported = out / "src.tar"
    run(["git", "-C", str(ROOT), "archive", "-o", str(exported), "HEAD", "src"], out, None)
    with tarfile.open(exported) as archive:
        archive.extractall(out)
    environment = write_index(out / "index", distro, name, version)
    run(["rosdep", "update", "--rosdistro", distro], out, environment)
    for each in packages:
        command = ["bloom-generate", "rosdebian", "--ros-distro", distro]
        command += ["--os-name", name, "--os-version", version]
        run(command, source / each, environment)
        print(f"{each}: {source / each / 'debian'}")


def write_index(index: Path, distro: str, system: str, version: str) -> dict[str, str]:
    """Writes the index of distributions and the keys of rosdep. Returns the environment in which
    the tools read them, and nothing else."""
    distribution, keys, cache = index / distro, index / "rosdep", index / "home"
    for directory in (distribution, keys, cache):
        directory.mkdir(parents=True)
    ours = sorted(path.parent.name for path in ROOT.glob("src/*/package.xml"))
    release = next(iter(chosen([])[each].version for each in ours))
    ros = sorted(lint_packages.table("From ROS"))
    (distribution / "distribution.yaml").write_text(
        f"%YAML 1.1\n---\nrelease_platforms: {{{system}: [{version}]}}\nrepositories:\n"
        + _repository("rclrt", ours, release)
        + _repository("ros", ros, "1.0.0")
        + "type: distribution\nversion: 2\n"
    )
    (index / "index-v4.yaml").write_text(
        f"%YAML 1.1\n---\ndistributions:\n  {distro}:\n"
        f"    distribution: [{distro}/distribution.yaml]\n    distribution_status: active\n"
        "    distribution_type: ros2\n    python_version: 3\ntype: index\nversion: 4\n"
    )
    debian = lint_packages.table("From the distribution")
    rules = (f"{key}: {{{system}: [{value.strip('`')}]}}\n" for key, value in debian.items())
    (keys / "keys.yaml").write_text("".join(rules))
    (keys / "20-default.list").write_text(f"yaml {(keys / 'keys.yaml').as_uri()}\n")
    return {
        **os.environ,
        "HOME": str(cache),
        "ROS_HOME": str(cache),
        "ROSDEP_SOURCE_PATH": str(keys),
        "ROSDISTRO_INDEX_URL": (index / "index-v4.yaml").as_uri(),
    }


def _repository(name: str, packages: Sequence[str], version: str) -> str:
    return (
        f"  {name}:\n    release:\n      packages: [{', '.join(packages)}]\n"
        "      tags: {release: 'release/{package}/{version}'}\n"
        f"      url: https://example.org/{name}.git\n      version: {version}-1\n"
    )


def build_all(out: Path, packages: Mapping[str, Package], distro: str) -> None:
    """Builds, and installs each package for the next ones. Called in a mount namespace."""
    overlay = out / "overlay"
    overlay.mkdir()
    run(["mount", "-t", "tmpfs", "tmpfs", str(overlay)], out, None)
    for each in OVERLAID:
        upper, work = overlay / each, overlay / f"{each}.work"
        upper.mkdir()
        work.mkdir()
        options = f"lowerdir=/{each},upperdir={upper},workdir={work}"
        run(["mount", "-t", "overlay", "overlay", "-o", options, f"/{each}"], out, None)
    source = out / "src"
    for name in without_ros(packages):
        debian = f"ros-{distro}-{name.replace('_', '-')}"
        version = packages[name].version
        upstream = source / f"{debian}_{version}.orig.tar.gz"
        with tarfile.open(upstream, "w:gz") as archive:
            for path in committed(source / name):
                archive.add(path, path.relative_to(source), recursive=False)
        environment = {
            **os.environ,
            "DEB_BUILD_OPTIONS": "nocheck",
            "DEB_BUILD_PROFILES": "nocheck",
        }
        run(["dpkg-buildpackage", "-us", "-uc", "-F"], source / name, environment)
        (made,) = source.glob(f"{debian}_*.deb")
        run(["dpkg", "--install", str(made)], source, None)
        print(f"{name}: {made}", flush=True)


def committed(package: Path) -> Iterator[Path]:
    """Yields the files of a package that bloom did not write."""
    for path in sorted(package.rglob("*")):
        if path.is_file() and "debian" not in path.relative_to(package).parts[:1]:
            yield path


def run(command: Sequence[str], directory: Path, environment: Mapping[str, str] | None) -> None:
    """Runs a command. Its output is shown only if it fails, or if it is this script's own."""
    own = __file__ in command
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=None if own else subprocess.PIPE,
        stderr=None if own else subprocess.STDOUT,
        text=True,
        timeout=GENEROUS_S,
        check=False,
    )
    if done.returncode != 0:
        said = "" if own else "\n" + "\n".join((done.stdout or "").splitlines()[-25:])
        raise Failed(f"{directory}: {command[0]} ended with {done.returncode}{said}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
