# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of src/rclrt/test/middleware on each installed middleware, and puts the table of
what they found into docs/results/middlewares.md.

    [UNDERLAY=<folder>] tools/env python3 bench/publish_middlewares.py [--print]

Each test is a row, and its result is a cell. Exit code 1: a test failed, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rclrt_demos.timer_study.runs import installed_middlewares
from rclrt_py.doctor.ros import package_version
from rclrt_py.errors import EXIT_OK
from results_page import HERE, write_results

Rows = dict[tuple[str, str], str]
"""The cells of one middleware, by the section and the name of the row."""

# The address of Fast DDS's and Cyclone DDS's ports depends on the test's domain.
PORT = re.compile(r"\b(dds\.\w+)\.\d+")


def sentence(name: str) -> str:
    """`OfAMessage` -> `of a message`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    return re.sub(r"\bqos\b", "QoS", re.sub(r"\bgid\b", "GID", words))


def program(environment: dict[str, str]) -> Path:
    """Returns the built test program. Raises FileNotFoundError with the fix."""
    name = f"{environment['RCLRT_DISTRO']}-{environment['RCLRT_PRESET']}"
    path = HERE.parent / "build" / name / "rclrt" / "test" / "middleware_tests"
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; fix: make build PACKAGES=rclrt")
    return path


def measured(path: Path, middleware: str) -> Rows:
    """Runs the tests on a middleware, in an environment that tools/env makes for it."""
    with tempfile.TemporaryDirectory() as directory:
        found = Path(directory) / "found.json"
        command = [str(HERE.parent / "tools" / "env"), str(path), f"--gtest_output=json:{found}"]
        ended = subprocess.run(
            command, env=os.environ | {"RMW": middleware}, capture_output=True, text=True
        )
        if ended.returncode != 0:
            raise RuntimeError(f"{middleware}: a test failed:\n{ended.stdout}{ended.stderr}")
        return rows_of(json.loads(found.read_text(encoding="utf-8")))


def rows_of(results: dict[str, list[dict[str, list[dict[str, str]]]]]) -> Rows:
    """Returns the cells in the results that GoogleTest writes as JSON."""
    return {
        (str(suite["name"]), sentence(test["name"])): PORT.sub(r"\1.*", test["cell"])
        for suite in results["testsuites"]
        for test in suite["testsuite"]
    }


def lines(by_middleware: dict[str, Rows], versions: dict[str, str], when: str) -> Iterator[str]:
    yield (
        f"Found {when}, ROS 2 {os.environ['ROS_DISTRO']}, Linux {platform.release()}: "
        + ", ".join(f"`{name}` {versions[name]}" for name in by_middleware)
        + "."
    )
    head = " | ".join(f"`{name}`" for name in by_middleware)
    section = ""
    for row in dict.fromkeys(row for rows in by_middleware.values() for row in rows):
        if row[0] != section:
            section = row[0]
            yield from ("", f"| {section} | {head} |", "|---" * (len(by_middleware) + 1) + "|")
        cells = (rows.get(row, "not run") for rows in by_middleware.values())
        yield f"| {row[1]} | {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="print the table, and write nothing")
    arguments = parser.parse_args()
    middlewares = installed_middlewares(os.environ)
    try:
        path = program(dict(os.environ))
        found = {name: measured(path, name) for name in middlewares}
    except (OSError, RuntimeError) as error:
        print(f"publish_middlewares.py: {error}", file=sys.stderr)
        return 1
    versions = {name: package_version(os.environ, name) or "?" for name in middlewares}
    made = "\n".join(lines(found, versions, datetime.now(UTC).date().isoformat()))
    if arguments.print:
        print(made)
    else:
        write_results("middlewares.md", "the middlewares", "publish_middlewares.py", made)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
