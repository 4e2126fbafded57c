# SPDX-License-Identifier: Apache-2.0
"""Runs every test on a loaded machine, REPEAT times under each load, and reports the failures.

Settings: LOAD=busy|disturber (both), REPEAT=N (1), and those of tools/test.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from load import KINDS, Load, LoadError, check_permission

ROOT = Path(__file__).resolve().parent.parent
TOTALS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped\s*")


def settings() -> tuple[list[str], int]:
    """Returns the loads and the runs under each. Throws LoadError if a setting is wrong."""
    load = os.environ.get("LOAD", "")
    if load and load not in KINDS:
        raise LoadError(
            f"LOAD={load}, expected one of {', '.join(KINDS)}.\nfix: leave it away for both."
        )
    repeat = os.environ.get("REPEAT", "") or "1"
    if not repeat.isascii() or not repeat.isdigit() or int(repeat) < 1:
        raise LoadError(f"REPEAT={repeat}, expected a number from 1.\nfix: leave it away for once.")
    return [load] if load else list(KINDS), int(repeat)


def failures(build: Path) -> list[str]:
    """Returns the names of the failed tests, from the result files of the last run."""
    names = []
    for path in sorted(build.glob("*/Testing/*/Test.xml")):
        package = path.relative_to(build).parts[0]
        for test in ElementTree.parse(path).iterfind("Testing/Test[@Status='failed']"):
            names.append(f"{package}: {test.findtext('Name')}")
    for path in sorted(build.glob("*/test_results/**/*.xml")):
        package = path.relative_to(build).parts[0]
        for case in ElementTree.parse(path).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                names.append(f"{package}: {case.get('classname')}.{case.get('name')}")
    return names


def run_tests() -> tuple[int, ...]:
    """Runs tools/test and shows its output. Returns the counts of passed, failed, skipped tests."""
    totals = None
    with subprocess.Popen(
        [ROOT / "tools/test"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TESTS_IN_TURN": "yes"},
    ) as process:
        assert process.stdout
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                if match := TOTALS.fullmatch(line):
                    totals = tuple(int(group) for group in match.groups())
        except BaseException:  # Ctrl-C or SIGTERM: the tests must end, too
            # SIGINT would not work: a background job ignores it.
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if totals is None:
        raise LoadError("tools/test ended without its totals.\nfix: see its output above.")
    if process.returncode != 0 and totals[1] == 0:
        raise LoadError(f"tools/test ended with {process.returncode} though no test failed.")
    return totals


def main() -> int:
    loads, repeat = settings()
    if "disturber" in loads:
        check_permission()
    build = ROOT / "build" / f"{os.environ['RCLRT_DISTRO']}-{os.environ['RCLRT_PRESET']}"
    failed: Counter[tuple[str, str]] = Counter()
    sums = [0, 0, 0]
    for kind in loads:
        for number in range(1, repeat + 1):
            print(f"\n== load {kind}, run {number} of {repeat}", flush=True)
            with Load(kind) as load:
                totals = run_tests()
                print(f"load {kind}: {load.check()}", flush=True)
            sums = [a + b for a, b in zip(sums, totals, strict=True)]
            failed.update((kind, name) for name in failures(build))
    print()
    for (kind, name), times in sorted(failed.items()):
        print(f"failed {times} of {repeat} under load {kind}: {name}")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] or failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except LoadError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
