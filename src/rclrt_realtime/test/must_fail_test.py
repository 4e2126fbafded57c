# SPDX-License-Identifier: Apache-2.0
"""The compiler and the sanitizer refuse forbidden operations, for the expected reason.

Each example in must_fail/ holds the wrong way (with -DWRONG) and the right way. The right one must
compile, and run if it is a program, so that an example cannot fail for another reason. The wrong
one must fail with the text after REASON.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
GENERATED = os.environ["RCLRT_GENERATED_INCLUDE"]
COMPILE = sorted((HERE / "must_fail/compile").glob("*.cpp"))
RUN = sorted((HERE / "must_fail/run").glob("*.cpp"))
RTSAN_EXIT_CODE = 43

COMPILER = os.environ["RCLRT_EFFECTS_COMPILER"]


def reason(source: Path) -> str:
    found = re.search(r"^// REASON: (.+)$", source.read_text(), re.MULTILINE)
    assert found, f"{source} does not say why it must fail"
    return found[1]


def clang(source: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            COMPILER,
            "-std=c++20",
            "-Wall",
            "-Wextra",
            f"-I{INCLUDE}",
            f"-I{GENERATED}",
            *options,
            str(source),
        ],
        capture_output=True,
        text=True,
    )


def build(source: Path, program: Path, *options: str) -> None:
    built = clang(source, "-O1", "-g", "-fsanitize=realtime", "-o", str(program), *options)
    assert built.returncode == 0, built.stderr


def run(program: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RTSAN_OPTIONS": f"halt_on_error=1:exitcode={RTSAN_EXIT_CODE}"}
    return subprocess.run([program], capture_output=True, text=True, env=environment, timeout=120)


def test_there_are_examples_of_both_kinds() -> None:
    assert len(COMPILE) >= 10
    assert len(RUN) >= 5


@pytest.mark.parametrize("source", COMPILE, ids=lambda source: str(source.stem))
def test_the_compiler_refuses_it_for_its_reason(source: Path) -> None:
    check = ("-fsyntax-only", "-Werror=function-effects")
    right = clang(source, *check, "-Werror")
    assert right.returncode == 0, right.stderr
    wrong = clang(source, *check, "-DWRONG")
    assert wrong.returncode != 0
    # If an expression is not constant, clang states the reason in a note.
    said = [line for line in wrong.stderr.splitlines() if re.search(" (error|note): ", line)]
    assert any(reason(source) in line for line in said), wrong.stderr


@pytest.mark.parametrize("source", RUN, ids=lambda source: str(source.stem))
def test_the_sanitizer_stops_it_for_its_reason(source: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    build(source, program)
    right = run(program)
    assert (right.returncode, right.stderr) == (0, "")
    build(source, program, "-DWRONG")
    wrong = run(program)
    assert wrong.returncode == RTSAN_EXIT_CODE, wrong.stderr
    assert reason(source) in wrong.stderr
