# SPDX-License-Identifier: Apache-2.0
"""`rclrt postprocess`: rows from logs of both modes, and from results."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rclrt_experiments.generator.chain_log import durations_of_runs, read_chain_log
from rclrt_py.native import read_lines
from rclrt_py.testing.command import command
from rclrt_py.testing.waiting import GENEROUS_S

CHAINS = [
    {
        "ID": number, "Prio": 2 - number, "Path": path, "Period_us": 20000, "Utilisation": 0.25,
        "Random_seed": 7, "PPE": True, "Avg_len": 2.0, "Merge_p": 0.1, "Sync_p": 0.0,
        "Variance": 0.0, "Executors": 2,
    }
    for number, path in enumerate((["c0", "c1"], ["c2", "s3"]))
]  # fmt: skip
HEADER = (
    "ID,Prio,Length,Period_us,Utilisation,BCRT_us,WCRT_us,ACRT_us,Chain_count,Avg_len,Random_seed,"
    "Merge_p,Sync_p,Variance,PPE,Executors"
)


def postprocess(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("postprocess", *arguments),
        capture_output=True, text=True, timeout=GENEROUS_S, check=False,
    )  # fmt: skip


@pytest.fixture
def chains(tmp_path: Path) -> Path:
    path = tmp_path / "chains.json"
    path.write_text(json.dumps(CHAINS))
    return path


def log_of(tmp_path: Path, *bodies: str) -> Path:
    path = tmp_path / "log"
    path.write_text("".join(f"{body}\n" for body in bodies))
    return path


def test_chain_logs_give_best_worst_and_mean(tmp_path: Path, chains: Path) -> None:
    log = log_of(
        tmp_path,
        "Nov 24 00:00:01 host executor0[1]: {executor: 0, chain: 0, start: 0, duration: 10}",
        "something else, {value: 3, mode: 0}",
        "{executor: 0, chain: 0, start: 20000, duration: 40}",
        "{executor: 1, chain: 1, start: 5, duration: 7}",
        "{executor: 0, chain: 0, start: 40000, duration: 25}",
    )
    done = postprocess(log, "--chains", chains)
    assert done.stdout.splitlines() == [
        HEADER,
        "0,2,2,20000,0.25,10,40,25,2,2,7,0.1,0,0,1,2",
        "1,1,2,20000,0.25,7,7,7,2,2,7,0.1,0,0,1,2",
    ]
    appended = postprocess(log, "--chains", chains, "--no-header")
    assert appended.stdout.splitlines() == done.stdout.splitlines()[1:]


def test_a_chain_without_events_is_a_row_that_says_so(tmp_path: Path, chains: Path) -> None:
    log = log_of(tmp_path, "{executor: 0, chain: 1, start: 0, duration: 10}")
    done = postprocess(log, "--chains", chains)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1] == "0,2,2,20000,0.25,none,none,none,2,2,7,0.1,0,0,1,2"
    assert f"chain 0 has no events in {log}" in done.stderr


def test_callback_logs_are_put_together_along_the_path(tmp_path: Path, chains: Path) -> None:
    def body(chain: int, callback: int, start: int, duration: int) -> str:
        return (
            f"{{executor: 0, chain: {chain}, start: {start}, duration: {duration}, "
            f"callback: {callback}}}"
        )

    log = log_of(
        tmp_path,
        body(0, 0, 0, 10), body(0, 1, 15, 5), body(0, 1, 130, 20), body(0, 0, 100, 10),
        body(1, 2, 0, 1), body(1, 2, 50, 1), body(1, 3, 60, 2), body(1, 3, 70, 2),
    )  # fmt: skip
    done = postprocess(log, "--chains", chains)
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    assert rows[0][5:8] == ["20", "50", "35"]  # 0 to 20, 100 to 150
    assert rows[1][5:8] == ["22", "62", "42"]  # in order: 0 to 62, 50 to 72


def test_a_run_that_ends_before_what_it_should_follow_counts_nowhere(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        "{executor: 0, chain: 0, start: 0, duration: 10, callback: 0}",
        "{executor: 0, chain: 0, start: 5, duration: 1, callback: 1}",
    )
    runs = read_chain_log(read_lines(log), "log").runs
    assert durations_of_runs(runs, 0, [0, 1]) == []


def test_results_give_the_same_columns(tmp_path: Path, chains: Path) -> None:
    def chain(number: int, **more: Any) -> dict[str, Any]:
        return {"id": f"chain{number}", **more}

    response = {"best": 0.5, "mean": 0.75, "p50": 0.7, "p99": 1.0, "worst": 1.25}
    (tmp_path / "results.json").write_text(
        json.dumps(
            {
                "chains": [
                    chain(1, completed=0, response_ms={}),
                    chain(0, completed=9, response_ms=response),
                ]
            }
        )
    )
    done = postprocess(tmp_path, "--chains", chains)
    assert [line.split(",")[5:8] for line in done.stdout.splitlines()[1:]] == [
        ["500", "1250", "750"],
        ["none"] * 3,
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{chain: 0, start: 1}", "log:1: no duration, executor; expected {executor: 0"),
        ("{executor: 0, chain: 0, start: 0, duration: -5}", "log:1: duration is -5; expected 0"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, chains: Path, text: str, said: str) -> None:
    done = postprocess(log_of(tmp_path, text), "--chains", chains)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_files_that_are_read_are_not_replaced(tmp_path: Path, chains: Path) -> None:
    log = log_of(tmp_path, "{executor: 0, chain: 0, start: 0, duration: 10}")
    for file in (log, chains):
        before = file.read_text()
        done = postprocess(log, "--chains", chains, "-o", file)
        assert done.returncode == 2
        assert f"-o {file}: would replace {file}, which this command reads" in done.stderr
        assert file.read_text() == before


def test_other_results_are_refused(tmp_path: Path, chains: Path) -> None:
    (tmp_path / "results.json").write_text('{"chains": []}')
    done = postprocess(tmp_path, "--chains", chains)
    assert done.returncode == 2
    assert "results.json: has no chain0; expected results of this application" in done.stderr
    broken = tmp_path / "broken.json"
    broken.write_text('[{"ID": 0, "Path": ["x; y"]}]')
    log = log_of(tmp_path, "{executor: 0, chain: 0, start: 0, duration: 1, callback: 0}")
    named = postprocess(log, "--chains", broken)
    assert named.returncode == 2
    assert "Path[0] is" in named.stderr
