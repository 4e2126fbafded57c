# SPDX-License-Identifier: Apache-2.0
"""`rclrt workloads`, with the real program and a real compiler."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.processes.runner import find_program
from rclrt_py.testing.command import Rclrt

NAMES = [
    *("adpcm", "chacha", "chase", "edges", "fft"),
    *("huffman", "lexer", "matrix", "shortest_paths", "sort"),
]
ADDS = """
static int values[100];
void adds_init(void);
void adds_main(void);
int adds_return(void);
void adds_init(void) { for (int i = 0; i < 100; ++i) values[i] = 0; }
void adds_main(void) { for (int i = 0; i < 100; ++i) values[i] += i; }
int adds_return(void) { int sum = 0; for (int i = 0; i < 100; ++i) sum += values[i];
  return sum - 4950 != 0; }
int main(void) { adds_init(); adds_main(); return adds_return(); }
"""


@pytest.fixture(autouse=True)
def _program() -> None:
    try:
        find_program(os.environ, "rclrt_workloads", "rclrt_workloads")
    except BadInput:
        pytest.skip("rclrt_workloads is not installed")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Programs like those of TACLeBench, and some that cannot be workloads."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    tree = tmp_path / "bench"
    programs = {
        "sequential/adds/adds.c": ADDS,
        "kernel/table/table.c": '#include "table.h"\nint main(void) { return look_up(3) - 9; }\n',
        "kernel/table/look_up.c": '#include "table.h"\nint look_up(int n) { return n * n; }\n',
        "kernel/table/table.h": "int look_up(int n);\n",
        "kernel/broken/broken.c": "int main(void) { return nothing; }\n",
        "kernel/grows/grows.c": "int main(void) { static int n; return ++n; }\n",
        "kernel/b; touch x/b.c": "int main(void) { return 0; }\n",
        "kernel/sort/sort.c": "int main(void) { return 0; }\n",
        "no_program/part.c": "int part(void) { return 0; }\n",
    }
    for name, text in programs.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


def test_the_list_says_what_each_is_like(rclrt: Rclrt) -> None:
    answer = rclrt("workloads", "list")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == NAMES
    assert "matrix          arithmetic: " in answer.out


def test_a_calibration_states_the_time_of_each(tmp_path: Path, rclrt: Rclrt) -> None:
    out = tmp_path / "workloads.json"
    answer = rclrt("workloads", "calibrate", "--iterations", "20", "-o", out)
    assert answer.code == 0, answer.err
    document = json.loads(out.read_text())
    assert (document["rclrt"], document["kind"]) == (1, "workloads")
    assert [each["name"] for each in document["workloads"]] == NAMES
    for each in document["workloads"]:
        assert each["n"] == 20
        assert 0 < each["min_us"] <= each["p50_us"] <= each["p99_us"] <= each["max_us"]
        assert each["min_us"] <= each["mean_us"] <= each["max_us"]
    assert "matrix" in answer.out


def test_a_tree_of_programs_is_imported_as_far_as_it_can_be(
    tmp_path: Path, tree: Path, rclrt: Rclrt
) -> None:
    out = tmp_path / "imported"
    answer = rclrt("workloads", "import", tree, "-o", out)
    assert answer.code == 1
    said = {line.split("  ")[0]: line for line in answer.out.splitlines()}
    assert said["adds"].endswith("imported")
    assert said["table"].endswith("imported")
    assert "broken.c:1:25: error: " in said["broken"]
    assert "grows returned different results" in said["grows"]
    assert "its name is not of letters" in said["b; touch x"]
    assert "there is a workload of that name already" in said["sort"]
    assert sorted(path.name for path in out.iterdir()) == ["adds.so", "table.so"]
    assert f"2 workloads; use them with RCLRT_WORKLOAD_PATH={out}" in answer.out

    times = tmp_path / "times.json"
    answer = rclrt("workloads", "calibrate", "--iterations", "5", "--path", out, "-o", times)
    assert answer.code == 0, answer.err
    timed = json.loads(times.read_text())["workloads"]
    assert [each["name"] for each in timed] == [*NAMES, "adds", "table"]
    assert [each["result"] for each in timed[-2:]] == [0, 0]


def test_what_cannot_be_imported_leaves_nothing(tmp_path: Path, tree: Path, rclrt: Rclrt) -> None:
    out = tmp_path / "out"
    shutil.rmtree(tree / "sequential")
    shutil.rmtree(tree / "kernel" / "table")
    answer = rclrt("workloads", "import", tree, "-o", out)
    assert answer.code == 1
    assert "none of 4 programs could be imported; nothing is written" in answer.err
    shutil.rmtree(tree / "kernel")
    answer = rclrt("workloads", "import", tree, "-o", out)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"rclrt: {tree}: no directory in it has C files with a main();")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench"]


def test_two_of_one_name_are_refused(tmp_path: Path, tree: Path, rclrt: Rclrt) -> None:
    (tree / "app" / "adds").mkdir(parents=True)
    (tree / "app" / "adds" / "adds.c").write_text(ADDS)
    answer = rclrt("workloads", "import", tree, "-o", tmp_path / "out")
    assert answer.code == 2
    assert "'adds' is also" in answer.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["calibrate", "absent"], "unknown workload 'absent'; expected one of adpcm, chacha"),
        (["calibrate", "--iterations", "0"], "'0': expected a whole number from 1 to"),
        (["calibrate", "--path", "absent"], "--path absent: is not a directory"),
        (["import", "absent", "-o", "out"], "absent: is no directory"),
        (["import", ".", "-o", "out", "--compiler", "absent"], "--compiler absent: is not on"),
        ([], "ACTION"),
    ],
)
def test_wrong_input_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rclrt: Rclrt,
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = rclrt("workloads", *arguments)
    assert answer.code == 2
    assert problem in answer.err
    assert list(tmp_path.iterdir()) == []
