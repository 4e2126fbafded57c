# SPDX-License-Identifier: Apache-2.0
"""rclrt_simulator as the rclrt command calls it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

SIMULATE = os.environ["RCLRT_SIMULATOR"]
ROOT = Path(__file__).parents[3]
APPLICATION = ROOT / "examples" / "fig_5_7" / "app.yaml"
EXECUTORS = ["wait_set", "producer_consumer", "thread_dispatch", "preemptive"]


def simulate(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    seconds = () if "--seconds" in arguments else ("--seconds", "1")
    return subprocess.run(
        [SIMULATE, str(APPLICATION), *seconds, "--out", str(out), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_results_have_the_format_of_a_real_run(executor: str, tmp_path: Path) -> None:
    done = simulate(tmp_path / "out", "--executor", executor, "--seed", "5")
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    schema = json.loads((ROOT / "schemas" / "results.schema.json").read_text())
    jsonschema.validate(results, schema)
    assert results["simulated"] == {"seed": 5, "lowest_execution": 1.0}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "chains.csv",
        "instances.csv",
        "results.json",
        "stalls.csv",
        "trace.pftrace",
    ]


def test_figure_5_7_has_the_responses_that_the_thesis_predicts(tmp_path: Path) -> None:
    simulate(tmp_path / "out", "--executor", "preemptive")
    chains = json.loads((tmp_path / "out" / "results.json").read_text())["chains"]
    worst = {chain["id"]: chain["response_ms"]["worst"] for chain in chains}
    assert worst == {"tau_1": 2.0, "tau_2": 9.0, "tau_3": 10.0}


@pytest.mark.parametrize(
    ("executor", "option", "at_least"),
    [
        ("wait_set", "--polling-us", 0.25),  # once for each ready set
        ("preemptive", "--timer-jitter-us", 0.2),  # the latest of a second
    ],
)
def test_what_the_machine_adds_makes_responses_longer(
    executor: str, option: str, at_least: float, tmp_path: Path
) -> None:
    worst = []
    for name, value in (("without", "0"), ("with", "250")):
        simulate(tmp_path / name, "--executor", executor, option, value)
        chains = json.loads((tmp_path / name / "results.json").read_text())["chains"]
        worst.append(chains[0]["response_ms"]["worst"])
    assert worst[1] - worst[0] >= at_least


def test_a_value_may_be_in_the_same_argument(tmp_path: Path) -> None:
    done = simulate(tmp_path / "out", "--executor=preemptive", "--cpus=2", "--seed=3")
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["simulated"]["seed"] == 3


def test_equal_command_lines_write_equal_files(tmp_path: Path) -> None:
    options = ("--executor", "preemptive", "--execution-from", "0.2", "--hop-us", "300")
    simulate(tmp_path / "one", *options)
    simulate(tmp_path / "two", *options)
    simulate(tmp_path / "other", *options, "--seed", "1")
    for name in ("results.json", "chains.csv", "instances.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    chains = [(tmp_path / name / "chains.csv").read_bytes() for name in ("one", "other")]
    assert chains[0] != chains[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected one of wait_set, producer_consumer"),
        (("--executor", "best"), "--executor: unknown executor 'best'"),
        (("--executor", "wait_set:threads=0"), "expected a whole number from 1 to 64"),
        (("--executor", "preemptive", "--seed", "-1"), "--seed -1: expected a whole number"),
        (
            ("--executor", "preemptive", "--execution-from", "2"),
            "--execution-from 2: expected a number from 0 to 1",
        ),
        (
            ("--executor", "preemptive", "--seconds", "0"),
            "--seconds 0: expected a number of seconds from 0.01 to 86400",
        ),
        (("--executor", "preemptive", "--fast"), "unknown option --fast"),
        (("--excutor", "preemptive"), "unknown option --excutor; did you mean --executor?"),
        (("--executor=preemptive", "--out", "x"), "--out is given twice; expected it once"),
        (("--executor",), "--executor: expected a value"),
    ],
)
def test_a_wrong_command_line_is_explained_and_writes_nothing(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = simulate(tmp_path / "out", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_directory_that_cannot_be_written_is_named_with_the_fix() -> None:
    done = simulate(Path("/proc/absent"), "--executor", "preemptive")
    assert done.returncode == 2
    assert "--out /proc/absent: cannot write results to /proc/absent" in done.stderr
    assert "expected a directory that can be written" in done.stderr


def test_a_chain_that_samples_has_reaction_times_and_ages(tmp_path: Path) -> None:
    app = ROOT / "examples" / "eye_to_wheel" / "app.yaml"
    done = subprocess.run(
        [
            SIMULATE,
            str(app),
            "--executor",
            "preemptive",
            "--seconds",
            "5",
            "--out",
            str(tmp_path / "out"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    schema = json.loads((ROOT / "schemas" / "results.schema.json").read_text())
    jsonschema.validate(results, schema)
    (chain,) = results["cause_effect_chains"]
    assert chain["segments"] == ["eye_to_wheel_1", "eye_to_wheel_2", "loop"]
    rows = (tmp_path / "out" / "outputs.csv").read_text().splitlines()[1:]
    ages = [int(row.split(",")[3]) / 1e6 for row in rows]
    assert len(rows) == chain["outputs"] > 900
    assert max(ages) == chain["age_ms"]["worst"] <= chain["max_age_ms"]
    assert chain["initial"] > 0  # the controller runs before the first image
    assert chain["distinct"] <= chain["inputs"]


def figures(out: Path) -> dict[str, Any]:
    """Returns what a run that streamed must have as a run that keeps all: no percentiles."""
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    found: dict[str, Any] = {}
    for kind in ("chains", "callbacks", "cause_effect_chains"):
        for each in results.get(kind, ()):
            for key in [key for key in each if key.endswith("_ms")]:
                if isinstance(each[key], dict) and "p50" in each[key]:
                    del each[key]["p50"], each[key]["p99"]
            found[kind + " " + each["id"]] = each
    return found


@pytest.mark.parametrize(
    "example", ["fig_5_7", "autonomous_vehicle", "eye_to_wheel", "autoware_reference"]
)
def test_a_long_simulation_streams_with_the_same_figures(example: str, tmp_path: Path) -> None:
    application = ROOT / "examples" / example / "app.yaml"
    common = [str(application), "--executor", "preemptive", "--seconds", "30"]
    common += ["--execution-from", "0.5", "--hop-us", "100"]
    for name, keep in (("all", "100000000"), ("streamed", "10")):
        command = [SIMULATE, *common, "--keep", keep, "--out", str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    whole, streamed = figures(tmp_path / "all"), figures(tmp_path / "streamed")
    for each in (*whole.values(), *streamed.values()):
        each.pop("migrations", None)  # without the parts on each CPU, at least so many
    assert streamed == whole
    results = json.loads((tmp_path / "streamed" / "results.json").read_text())
    schema = json.loads((ROOT / "schemas" / "results.schema.json").read_text())
    jsonschema.validate(results, schema)
    assert (
        results["streamed"]["instances"]
        == sum(1 for _ in (tmp_path / "all" / "instances.csv").open()) - 1
    )
