# SPDX-License-Identifier: Apache-2.0
"""tools/soundness.py: slices of seeds, results that are kept, and totals."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parent.parent
ROOT = PACKAGE.parent.parent

# Lists two tests. Each run appends its test and seeds to a file. Even.Holds fails from BROKEN on.
PROGRAM = """#!/bin/sh
case "$1" in
  --gtest_list_tests)
    printf 'Even.\\n  Holds\\nOdd/Kinds.\\n  Holds/0  # GetParam() = 1\\n'
    exit
    ;;
esac
test=${1#--gtest_filter=}
echo "$test $RCLRT_SOUNDNESS_FIRST $RCLRT_SOUNDNESS_TRIALS" >>"$RUNS"
last=$((RCLRT_SOUNDNESS_FIRST + RCLRT_SOUNDNESS_TRIALS - 1))
if [ "$test" = Even.Holds ] && [ $last -ge "$BROKEN" ]; then
  echo "seed $BROKEN is above its bound"
  exit 1
fi
echo '[  PASSED  ] 1 test.'
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with one program of its own instead of those of the build."""
    spec = importlib.util.spec_from_file_location("soundness", ROOT / "tools/soundness.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "soundness", module)  # its dataclasses look it up
    spec.loader.exec_module(module)
    tests = tmp_path / "build/some-dev/rclrt_analysis/test"
    tests.mkdir(parents=True)
    program = tests / "fake_tests"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PROGRAMS", {"fake_tests": "*"})
    settings = {
        "RCLRT_DISTRO": "some",
        "RCLRT_PRESET": "dev",
        "TRIALS": "1200",
        "FIRST": "1",
        "JOBS": "2",
        "TESTS": "",
        "RUNS": str(tmp_path / "runs"),
        "BROKEN": "100000",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return module


def runs(tmp_path: Path) -> list[str]:
    """Returns what ran since the last call."""
    path = tmp_path / "runs"
    lines = sorted(path.read_text(encoding="utf-8").splitlines()) if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def test_each_test_tries_all_seeds(
    tool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tool.main() == 0
    assert runs(tmp_path) == [
        f"{test} {first} {trials}"
        for test in ("Even.Holds", "Odd/Kinds.Holds/0")
        for first, trials in ((1, 500), (1001, 200), (501, 500))
    ]
    printed = capsys.readouterr().out
    assert re.search(r"^Even\.Holds +1200 .* passed$", printed, re.MULTILINE)
    assert printed.splitlines()[-1] == "2 passed, 0 failed"


def test_what_has_passed_does_not_run_again(
    tool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tool.main() == 0
    runs(tmp_path)
    kept = tmp_path / "log/soundness/some-dev/results.jsonl"
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    kept.write_text("".join(lines[:-1]) + lines[-1][:20], encoding="utf-8")  # as after a kill
    lost = json.loads(lines[-1])["slice"]
    assert tool.main() == 0
    assert runs(tmp_path) == [f"{lost['test']} {lost['first']} {lost['trials']}"]
    assert tool.main() == 0
    assert runs(tmp_path) == []
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 0 failed"


def test_a_new_build_runs_all_again(tool: Any, tmp_path: Path) -> None:
    assert tool.main() == 0
    assert len(runs(tmp_path)) == 6
    program = tmp_path / "build/some-dev/rclrt_analysis/test/fake_tests"
    program.write_text(PROGRAM + "# changed\n", encoding="utf-8")
    assert tool.main() == 0
    assert len(runs(tmp_path)) == 6


def test_a_failure_names_its_seeds_and_runs_again(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROKEN", "700")
    assert tool.main() == 1
    printed = capsys.readouterr().out
    output = tmp_path / "log/soundness/some-dev/Even.Holds.501.txt"
    assert f"  seeds from 501: see {output}\n" in printed
    assert output.read_text(encoding="utf-8") == "seed 700 is above its bound\n"
    assert printed.splitlines()[-1] == "1 passed, 1 failed"
    runs(tmp_path)
    assert tool.main() == 1
    assert runs(tmp_path) == ["Even.Holds 1001 200", "Even.Holds 501 500"]


def test_wrong_settings_name_what_is_expected(tool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIALS", "many")
    with pytest.raises(tool.SettingsError, match="TRIALS=many, expected a number from 1"):
        tool.main()
    monkeypatch.setenv("TRIALS", "1")
    monkeypatch.setattr(tool, "PROGRAMS", {"no_tests": "*"})
    with pytest.raises(tool.SettingsError, match=r"no_tests is not built.\nfix: make build"):
        tool.main()


@pytest.mark.parametrize(
    "damage",
    [
        "garbage",
        "null",
        "[]",
        "\0\x80",
        '{"slice": null, "result": null}',
        '{"slice": {"program": "fake_tests"}, "result": {"passed": true, "cpu_s": 1.0}}',
        '{"slice": {"program": 1, "test": 2, "first": 3, "trials": 4},'
        ' "result": {"passed": 1, "cpu_s": 1}}',
    ],
)
def test_a_damaged_line_is_removed_and_its_slice_runs_again(
    tool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    assert tool.main() == 0
    runs(tmp_path)
    kept = tmp_path / "log/soundness/some-dev/results.jsonl"
    lines = kept.read_text(encoding="utf-8").splitlines()
    lost = json.loads(lines[2])["slice"]
    lines[2] = damage
    kept.write_bytes("".join(f"{line}\n" for line in lines).encode("latin-1"))
    capsys.readouterr()
    assert tool.main() == 0
    assert runs(tmp_path) == [f"{lost['test']} {lost['first']} {lost['trials']}"]
    said = f"{kept}: damaged lines removed: 1; their slices run again\n"
    assert capsys.readouterr().out.startswith(said)
    assert tool.main() == 0
    assert runs(tmp_path) == []
    assert "damaged" not in capsys.readouterr().out


@pytest.mark.parametrize("first", [b"", b"garbage\n", b"\xfe\xff\0", b'{"build": null}\n'])
def test_results_without_the_build_start_anew(tool: Any, tmp_path: Path, first: bytes) -> None:
    """Folders and files of others stay."""
    directory = tmp_path / "log/soundness/some-dev"
    (directory / "folder.txt").mkdir(parents=True)
    (directory / "notes.md").write_text("mine")
    (directory / "Old.Test.1.txt").write_text("of an earlier build")
    (directory / "results.jsonl").write_bytes(first)
    assert tool.main() == 0
    assert len(runs(tmp_path)) == 6
    names = sorted(path.name for path in directory.iterdir())
    assert names == ["folder.txt", "notes.md", "results.jsonl"]


@pytest.mark.parametrize("name", ["results.jsonl", "Even.Holds.1.txt"])
def test_a_folder_in_the_place_of_a_file_is_named(tool: Any, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "log/soundness/some-dev" / name
    folder.mkdir(parents=True)
    with pytest.raises(IsADirectoryError) as error:
        tool.main()
    assert str(error.value.filename) == str(folder)


def test_settings_are_checked_before_the_build(tmp_path: Path) -> None:
    """The script needs nothing of a build for this, and make checks first."""
    for settings, code, said in (
        ({"TRIALS": "x"}, 2, "error: TRIALS=x, expected a number from 1.\n"),
        ({"FIRST": "0"}, 2, "error: FIRST=0, expected a number from 1.\n"),
        ({"TRIALS": "", "FIRST": "", "JOBS": ""}, 0, ""),
    ):
        done = subprocess.run(
            [sys.executable, ROOT / "tools/soundness.py", "--check"],
            env=settings, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (code, "", said)
    planned = subprocess.run(
        ["make", "-n", "-C", ROOT, "soundness", "MAKE=true"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    lines = [line for line in planned.splitlines() if "soundness" in line or "true build" in line]
    assert lines == ["python3 tools/soundness.py --check", "true build", "tools/soundness"]


def test_every_program_of_random_trials_is_listed(tool: Any) -> None:
    del tool
    text = (ROOT / "tools/soundness.py").read_text(encoding="utf-8")
    cmake = (PACKAGE / "test/CMakeLists.txt").read_text(encoding="utf-8")
    groups = re.findall(r"rclrt_add_gtests\((\w+) \S+ TESTS\s([^)]*)\)", cmake)
    for path in sorted((PACKAGE / "test").glob("*_test.cpp")):
        if not re.search(r"\bseeds\(", path.read_text(encoding="utf-8")):
            continue
        name = path.name.removesuffix("_test.cpp")
        (group,) = [group for group, tests in groups if name in tests.split()]
        assert f'"{group}_tests"' in text, f"{path.name} reads RCLRT_SOUNDNESS_TRIALS"
