# SPDX-License-Identifier: Apache-2.0
"""The four programs run, write the study's files, and give threads the policies that it states."""

from __future__ import annotations

import csv
import json
import os
import signal
import stat
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S
from study_programs import PROGRAMS, path_of

CALLBACKS = ("timer_cb_latency_spin_some", "timer_cb_latency_spin")
ITERATIONS = 50
SHORT = ("--rttest_args", "-i", str(ITERATIONS), "-u", "1ms", "-d", "1")


def summary_of(path: Path) -> Any:
    return json.loads(path.read_text())


def policies(threads: list[dict[str, Any]], step: str) -> set[tuple[str, int]]:
    return {(each["policy"], each["rtprio"]) for each in threads if each["step"] == step}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_csv_files_hold_every_iteration_in_the_studys_formats(
    program: Command, tmp_path: Path, name: str
) -> None:
    files = {kind: tmp_path / f"{kind}.csv" for kind in ("hist", "topn", "timeseries", "rttest")}
    done = program(
        name,
        "--hist_filename", files["hist"],
        "--topn_filename", files["topn"],
        "--timeseries_filename", files["timeseries"],
        *SHORT, "-f", files["rttest"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    with files["timeseries"].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["idx", "latency"]
    assert [int(row["idx"]) for row in rows] == list(range(ITERATIONS))
    latencies = [int(row["latency"]) for row in rows]
    assert all(latency >= 0 for latency in latencies)

    with files["topn"].open(newline="") as stream:
        top = list(csv.DictReader(stream))
    assert list(top[0]) == ["latency", "index"]
    assert [int(row["latency"]) for row in top] == sorted(latencies, reverse=True)[:10]
    assert all(latencies[int(row["index"])] == int(row["latency"]) for row in top)

    with files["hist"].open(newline="") as stream:
        bins = list(csv.DictReader(stream))
    assert list(bins[0]) == ["latency", "count"]
    assert [row["latency"] for row in bins] == [*map(str, range(1000)), "overflow"]
    counts = [0] * 1001
    for latency in latencies:
        counts[min(latency // 1000, 1000)] += 1
    assert [int(row["count"]) for row in bins] == counts

    lines = [line.split(" ") for line in files["rttest"].read_text().splitlines()]
    assert lines[0] == ["iteration", "timestamp", "latency", "minor_pagefaults", "major_pagefaults"]
    assert [int(line[0]) for line in lines[1:]] == list(range(ITERATIONS))
    assert [int(line[2]) for line in lines[1:]] == latencies
    stamps = [int(line[1]) for line in lines[1:]]
    assert all(b - a > 0 and (b - a) % 1_000_000 == 0 for a, b in pairwise(stamps))


@pytest.mark.parametrize("name", CALLBACKS)
def test_the_studys_figure_stands_beside_the_latency_from_the_release(
    program: Command, tmp_path: Path, name: str
) -> None:
    done = program(name, "--summary_filename", tmp_path / "s.json", *SHORT)
    assert done.returncode == 0, done.stderr
    found = summary_of(tmp_path / "s.json")
    assert found["latency_us"]["n"] == found["since_rcl_call_us"]["n"] == ITERATIONS
    # It begins later: when rcl was already there.
    assert found["since_rcl_call_us"]["mean"] <= found["latency_us"]["mean"]
    assert "Latency from the nominal release:" in done.stdout
    assert (
        "Time since the call of rcl_timer_call, as the published study measures it:" in done.stdout
    )


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("moment", ["init", "node", "loop"])
@pytest.mark.usefixtures("realtime")
def test_threads_inherit_the_policy_that_their_creator_has_then(
    program: Command, tmp_path: Path, name: str, moment: str
) -> None:
    if name == "init_thread" and moment == "node":
        pytest.skip("without a node that is the same as before the loop")
    done = program(
        name, "--set_policy_before", moment, "--summary_filename", tmp_path / "s.json", *SHORT,
        "-s", "fifo", "-t", "3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    threads = summary_of(tmp_path / "s.json")["threads"]
    real, sharing = {("FF", 3)}, {("TS", 0)}
    assert policies(threads, "main") == real
    assert policies(threads, "init") == (real if moment == "init" else sharing)
    if name != "init_thread":
        assert policies(threads, "node 1") == (sharing if moment == "loop" else real)


@pytest.mark.usefixtures("realtime")
def test_the_options_of_the_study_state_the_first_and_the_last_moment(
    program: Command, tmp_path: Path
) -> None:
    for option, policy in (
        ("--use_realtime_child_thread", "RR"),
        ("--unuse_realtime_child_thread", "TS"),
    ):
        program("init_thread", option, "--summary_filename", tmp_path / "s.json", *SHORT)
        threads = summary_of(tmp_path / "s.json")["threads"]
        assert {each["policy"] for each in threads if each["step"] == "init"} == {policy}


def test_each_step_says_how_many_threads_it_started(program: Command, tmp_path: Path) -> None:
    done = program(
        "init_and_node_thread", "--nodes", "3", "--summary_filename", tmp_path / "s.json", *SHORT
    )
    assert done.returncode == 0, done.stderr
    found = summary_of(tmp_path / "s.json")
    started = found["threads_started"]
    assert list(started) == ["init", "node 1", "node 2", "node 3"]
    assert started["init"] >= 1  # the thread for signals, and what the middleware starts
    for step, count in started.items():
        assert f"threads started by {step}: {count}\n" in done.stdout
        assert sum(each["step"] == step for each in found["threads"]) == count


def test_the_table_of_threads_has_the_columns_of_ps(program: Command) -> None:
    done = program("init_thread", *SHORT)
    heads = ["PID", "TID", "POL", "PRI", "NI", "RTPRIO", "COMMAND", "PSR"]
    lines = done.stdout.splitlines()
    index = next(i for i, line in enumerate(lines) if line.split()[:8] == heads)
    first = lines[index + 1].split()
    assert first[0] == first[1]  # the main thread has the number of the process
    assert first[6].startswith("init_thread"[:15])


def test_ctrl_c_ends_a_run_without_an_end_and_keeps_what_was_measured(tmp_path: Path) -> None:
    hist = tmp_path / "h.csv"
    command: list[str | Path] = [path_of("timer_cb_latency_spin"), "--hist_filename", hist]
    command += ["--rttest_args", "-i", "0", "-d", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        for line in running.stdout:
            if "COMMAND" in line:  # printed after init and nodes, just before the loop
                break
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=GENEROUS_S)
    assert running.returncode == 0
    assert hist.read_text().startswith("latency,count\n0,")


# The command line is read by the same code in all of them: the others only show that they use it.
WRONG = [
    (["--hist_filname", "a"], "unknown option --hist_filname; did you mean --hist_filename?"),
    (["--rttest_args", "-u", "1h"], "-u 1h"),
    (["--rttest_args", "-x", "1"], "unknown option --rttest_args -x"),
    (["--rttest_args", "-d", "1000gb"], "MB left"),
    (["--hist_filename", "/nowhere/a.csv"], "cannot write /nowhere/a.csv: No such file"),
    (["--topn_filename", "/"], "is a directory"),
    (["--ros-args", "-r", ":="], "arguments"),
]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        *((PROGRAMS[0], *wrong) for wrong in WRONG),
        *((name, *wrong) for name in PROGRAMS[1:] for wrong in WRONG[:2]),
    ],
)
def test_wrong_options_are_named_and_the_exit_code_is_2(
    program: Command, name: str, arguments: list[str], said: str
) -> None:
    done = program(name, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert f"{name}: " in done.stderr  # rcl may have said something before
    assert done.stdout == ""


def test_what_cannot_be_written_leaves_no_other_file_behind(
    program: Command, tmp_path: Path
) -> None:
    done = program(
        "init_thread", "--hist_filename", tmp_path / "h.csv",
        "--topn_filename", tmp_path / "missing" / "t.csv", *SHORT,
    )  # fmt: skip
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option",
    [
        *(f"--{kind}_filename" for kind in ("hist", "topn", "timeseries", "summary")),
        "--rttest_args -f",
    ],
)
def test_what_is_no_file_is_refused_and_stays_what_it_is(
    program: Command, tmp_path: Path, option: str
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    done = program("init_thread", *option.split(), fifo)
    assert done.returncode == 2
    assert f"{option}: cannot write {fifo}: is a FIFO; expected a regular file" in done.stderr
    assert done.stdout == ""
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_names_every_option(program: Command, name: str) -> None:
    done = program(name, "--help")
    assert done.returncode == 0
    for option in ("--use_realtime_child_thread", "--hist_filename", "--rttest_args", "-d SIZE"):
        assert option in done.stdout
