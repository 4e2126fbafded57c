# SPDX-License-Identifier: Apache-2.0
"""`rclrt study timers` as a user calls it, and its parts on files that are made up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rclrt_demos.timer_study.histogram import Histogram, Panel, read_histogram, side_by_side
from rclrt_demos.timer_study.inheritance import Inheritance, Thread
from rclrt_demos.timer_study.matrix import CASES, all_cases
from rclrt_py.errors import BadInput
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S
from study_programs import give_up_realtime


@pytest.fixture(scope="session")
def study() -> Command:
    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rclrt_cli", "study", *map(str, arguments)],
            capture_output=True, text=True, timeout=GENEROUS_S, check=False,
        )  # fmt: skip

    return call


@pytest.fixture(scope="session")
def done(
    study: Command, program: Command, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path, bool]:
    """A short study, its directory, and whether it was real-time."""
    said = program("init_thread", "--rttest_args", "-i", "1", "-d", "1").stderr
    out = tmp_path_factory.mktemp("study") / "out"
    result = study("timers", "--iterations", "50", "--out", out, "--json", out.parent / "s.json")
    return result, out, "no real-time policy" not in said


Done = tuple["subprocess.CompletedProcess[str]", Path, bool]


def test_the_inheritance_comes_out_as_the_study_states(done: Done) -> None:
    result, out, realtime = done
    found = json.loads((out / "study.json").read_text())
    if not realtime:
        assert result.returncode == 1
        assert "cannot be shown" in result.stdout
        pytest.skip("no real-time policy is permitted here")
    assert result.returncode == 0, result.stdout + result.stderr
    assert found["inheritance_as_stated"] is True
    by_moment: dict[tuple[str, str], set[str]] = {}
    for run in found["runs"]:
        assert run["inheritance"]["wrong"] == []
        for thread in run["inheritance"]["threads"]:
            step = thread["step"].split()[0]
            key = (run["policy_set_before"], step)
            by_moment.setdefault(key, set()).add(thread["policy"])
    real, sharing = {"RR"}, {"TS"}
    stated = {
        ("init", "main"): real, ("init", "init"): real, ("init", "node"): real,
        ("node", "main"): real, ("node", "init"): sharing, ("node", "node"): real,
        ("loop", "main"): real, ("loop", "init"): sharing, ("loop", "node"): sharing,
    }  # fmt: skip
    assert {key: by_moment[key] for key in stated} == stated


def test_every_run_of_the_matrix_is_in_the_json_and_its_csv_is_kept(done: Done) -> None:
    _, out, _ = done
    found = json.loads((out / "study.json").read_text())
    assert json.loads((out.parent / "s.json").read_text()) == found
    rmws = {run["rmw"] for run in found["runs"]}
    assert len(found["runs"]) == len(rmws) * len(list(all_cases()))
    for run in found["runs"]:
        assert run["latency_us"]["n"] == 50
        assert (run["since_rcl_call_us"] is None) == (not run["program"].startswith("timer_cb"))
        name = f"{run['program']}_policy_before_{run['policy_set_before']}"
        histogram = read_histogram(out / "runs" / run["rmw"] / name / "hist.csv")
        assert histogram.n == 50
        assert histogram.overflow == run["overflow"]


def test_the_page_shows_both_tables_and_the_histograms_with_what_was_published(done: Done) -> None:
    result, out, _ = done
    page = (out / "report.html").read_text()
    assert "<script" not in page
    for text in ("Which threads are real-time", "Latencies in µs", "published 10 to 60 µs"):
        assert text in page
    for path in sorted(out.glob("*.svg")):
        ElementTree.parse(path)  # throws for what is no XML
        assert path.read_text() in page
    rmws = {run["rmw"] for run in json.loads((out / "study.json").read_text())["runs"]}
    pictures = {path.stem for path in out.glob("*.svg")}
    assert pictures == {f"{kind}_{rmw}" for kind in ("wake_up", "callback") for rmw in rmws}
    assert "10 to 60" in result.stdout
    assert "150 to 500" in result.stdout


def test_the_same_directory_can_be_written_again_and_one_of_somebody_else_cannot(
    study: Command, done: Done, tmp_path: Path
) -> None:
    _, out, _ = done
    assert (out / ".rclrt_study").is_file()
    (tmp_path / "mine.txt").write_text("mine")
    refused = study("timers", "--iterations", "1", "--out", tmp_path)
    assert refused.returncode == 2
    assert "is not empty and was not written by this command" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "STUDY"),
        (["timer"], "timers"),
        (["timers", "--iterations", "0"], "expected a whole number from 1"),
        (["timers", "--seconds", "-1"], "expected a number of seconds"),
        (["timers", "--period-us", "1"], "expected a whole number from 20"),
        (["timers", "--priority", "100"], "from 1 to 99"),
        (["timers", "--rmw", "rmw_none"], "is not installed"),
        (["timers", "--json", "/nowhere/s.json"], "/nowhere"),
        (["timers", "--out", "/nowhere/deep/out"], "/nowhere/deep"),
    ],
)
def test_wrong_options_are_named_and_the_exit_code_is_2(
    study: Command, arguments: list[str], said: str
) -> None:
    refused = study(*arguments)
    assert refused.returncode == 2
    assert said in refused.stderr


def test_without_permission_it_says_what_cannot_be_shown_and_the_answer_is_no() -> None:
    command = [sys.executable, "-m", "rclrt_cli", "study", "timers"]
    command += ["--iterations", "2", "--stress", "none"]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=GENEROUS_S, check=False,
        preexec_fn=give_up_realtime,
    )  # fmt: skip
    assert result.returncode == 1
    assert "Inheritance: cannot be shown: " in result.stdout
    assert "rtprio" in result.stdout  # the fix


def inheritance(moment: str, *threads: tuple[str, str, int]) -> Inheritance:
    listed = tuple(
        Thread(step, 100 + i, f"t{i}", policy, priority)
        for i, (step, policy, priority) in enumerate(threads)
    )
    return Inheritance(moment, "rr", 80, listed, (), has_nodes=True)


def test_a_thread_with_another_policy_than_stated_is_named() -> None:
    good = inheritance("node", ("main", "RR", 80), ("init", "TS", 0), ("node 1", "RR", 80))
    assert good.wrong() == []
    bad = inheritance("node", ("main", "RR", 80), ("init", "RR", 80), ("node 1", "TS", 0))
    assert len(bad.wrong()) == 2
    assert "of init is RR 80; expected TS" in bad.wrong()[0]
    assert "of node 1 is TS; expected RR 80" in bad.wrong()[1]
    other = inheritance("loop", ("main", "RR", 79), ("init", "TS", 0), ("node 1", "TS", 0))
    assert "expected RR 80" in other.wrong()[0]


def test_without_a_thread_to_inherit_the_statement_does_not_hold() -> None:
    assert inheritance("loop", ("main", "RR", 80), ("init", "TS", 0)).wrong()


def test_threads_that_no_step_started_are_not_judged() -> None:
    found = inheritance(
        "init", ("main", "RR", 80), ("init", "RR", 80), ("node 1", "RR", 80), ("before", "TS", 0),
        ("later", "TS", 0),
    )  # fmt: skip
    assert found.wrong() == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ":1: expected the line"),
        ("latency,count\n0,1\n", "ends without a row overflow"),
        ("latency,count\n1,1\noverflow,0\n", ":2: the latency is 1; expected 0"),
        ("latency,count\n0,-1\noverflow,0\n", ":2:"),
        ("latency,count\noverflow,0\n0,1\n", ":3:"),
    ],
)
def test_a_broken_histogram_is_refused_with_its_line(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "hist.csv"
    path.write_text(content)
    with pytest.raises(BadInput) as refused:
        read_histogram(path)
    assert said in str(refused.value)


def test_the_picture_shows_a_panel_for_each_and_what_is_beyond_the_last_bin() -> None:
    counts = [0] * 1000
    counts[12] = 990
    panels = [
        Panel("one & two", Histogram(tuple(counts), 10), (10, 60)),
        Panel("three", Histogram(tuple(counts), 0), None),
    ]
    svg = side_by_side(panels)
    root = ElementTree.fromstring(svg)
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "one & two" in texts
    assert "published 10 to 60 µs" in texts
    assert "10 of 1000 took 1 ms or longer" in texts


def test_a_picture_of_nothing_is_still_one() -> None:
    ElementTree.fromstring(side_by_side([Panel("none", Histogram((0,) * 1000, 0), None)]))


def test_the_matrix_is_that_of_the_study() -> None:
    wake_up = {(case.program, case.policy_set_before) for case in CASES[:4]}
    assert wake_up == {
        (program, moment)
        for program in ("init_thread", "init_and_node_thread")
        for moment in ("init", "loop")
    }
    callback: dict[str, Any] = {
        case.program: case.published_us for case in CASES[4:] if case.policy_set_before == "loop"
    }
    # The study's text: 150 to 500 µs with spin_some, 30 to 50 µs with spin.
    assert callback == {
        "timer_cb_latency_spin_some": (150, 500),
        "timer_cb_latency_spin": (30, 50),
    }
