# SPDX-License-Identifier: Apache-2.0
"""Bounds of chains that sample, beside simulated reaction times and ages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_py.bounds.comparing import add_to_results_file, with_predictions
from rclrt_py.bounds.excesses import Excess
from rclrt_py.bounds.predicted import Predictions, predict
from rclrt_py.bounds.sampling import Observed, with_sampling_bounds
from rclrt_py.native import load_application
from rclrt_py.report.bound_lines import bound_lines
from rclrt_py.runs.csv_reader import StallRow
from rclrt_py.runs.histograms import Histogram, Times
from rclrt_py.runs.output_directory import BOUNDS
from rclrt_py.runs.run_data import Run
from rclrt_py.testing.scheduler_model import Callback, Chain
from rclrt_py.testing.synthetic_run import write_run
from sources import SCHEMA

APP = Path(__file__).parents[3] / "examples" / "eye_to_wheel" / "app.yaml"
MS = 1_000_000
LOOP = (
    [
        Callback("control", "controller", MS // 2, 3, ("command",), (), period=5 * MS),
        Callback("actuate", "controller", MS // 10, 3, (), ("command",)),
    ],
    [Chain("loop", ("control", "actuate"), 3, 5 * MS)],
)


def term(kind: str, chain: str, callback: str, time_ms: float) -> dict[str, Any]:
    return {"kind": kind, "chain": chain, "callback": callback, "instance": 3, "time_ms": time_ms}


def sampled_run(directory: Path, ages_ms: list[float]) -> Run:
    """Returns a run of which the chain `eye_to_wheel` has outputs with these ages, and one reaction
    of 50 ms."""
    write_run(directory, seconds=0.5, graph=LOOP)
    rows = [
        f"eye_to_wheel,0,{round(age * MS)},{round(age * MS)},{50 * MS if number == 0 else ''}"
        for number, age in enumerate(ages_ms)
    ]
    header = "chain,release_ns,end_ns,age_ns,reaction_ns"
    (directory / "outputs.csv").write_text("\n".join([header, *rows]) + "\n")
    document = json.loads((directory / "results.json").read_text())
    times = {"best": 1.0, "mean": 1.0, "p50": 1.0, "p99": 1.0}
    document["cause_effect_chains"] = [
        {
            "id": "eye_to_wheel",
            "segments": ["eye_to_wheel_1", "eye_to_wheel_2", "loop"],
            "max_reaction_ms": 100,
            "max_age_ms": 130,
            "inputs": 9,
            "distinct": 2,
            "outputs": len(rows),
            "initial": 0,
            "missed_reaction": 0,
            "missed_age": 0,
            "reaction_ms": {**times, "worst": 50.0},
            "age_ms": {**times, "worst": max(ages_ms)},
            "worst_age": {
                "end_ms": 300,
                "time_ms": max(ages_ms),
                "terms": [
                    term("response", "eye_to_wheel_1", "image", 15.0),
                    term("sampling", "eye_to_wheel_2", "plan", max(ages_ms) - 15),
                ],
            },
        }
    ]
    (directory / "results.json").write_text(json.dumps(document))
    return Run.load(directory)


def test_bounds_of_chains_that_sample_stand_beside_what_was_observed(tmp_path: Path) -> None:
    run = sampled_run(tmp_path / "run", [20, 110.8, 110.9])
    predictions = predict(load_application(APP), ["preemptive"], None)
    (run.directory / BOUNDS).write_text(predictions.to_json())
    assert Predictions.load(run.directory) == predictions
    results = with_predictions(run.results, [run], predictions)
    (chain,) = results.cause_effect_chains
    assert chain.predicted is not None
    assert (chain.predicted.reaction_bound_ms, chain.predicted.age_bound_ms) == (60.8, 110.8)
    assert (chain.predicted.above_reaction_bound, chain.predicted.above_age_bound) == (0, 1)
    assert chain.predicted.verdict == "conditional"  # without overheads
    lines = [line.split() for line in bound_lines([results])]
    assert chain.worst_age is not None
    assert [each.bound_ms for each in chain.worst_age.terms] == [17.6, 55.0]
    assert ["eye_to_wheel,", "reaction", "60.800", "50.000", "0.82", "conditional", "0"] in lines
    data_age = "eye_to_wheel, data age 110.800 110.900 1.00 conditional 1 (0)"
    assert data_age.split() in lines

    add_to_results_file(run.directory, results)
    document = json.loads((run.directory / "results.json").read_text())
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert document["cause_effect_chains"][0]["age_bound_ms"] == 110.8
    assert Run.load(run.directory).results.cause_effect_chains == (chain,)


@pytest.mark.parametrize(
    ("stalls", "by_host"),
    [
        ([(0, 0, 90_000)], 0),
        ([(0, 10 * MS, 10 * MS + 100_000)], 1),
        ([(0, 120 * MS, 130 * MS)], 0),  # after the output
        ([(1, 10 * MS, 20 * MS)], 0),  # a CPU that runs no segment
        ([(0, 10 * MS, 10 * MS + 60_000), (0, 10 * MS, 10 * MS + 60_000)], 0),  # counts once
        ([(0, 10 * MS, 10 * MS + 60_000), (0, 30 * MS, 30 * MS + 60_000)], 1),
    ],
    ids=["too short", "long enough", "later", "elsewhere", "the same twice", "two"],
)
def test_an_age_above_its_bound_is_explained_by_stalls_that_are_as_long(
    tmp_path: Path, stalls: list[tuple[int, int, int]], by_host: int
) -> None:
    run = sampled_run(tmp_path / "run", [20, 110.8, 110.9])  # 0.1 ms above
    rows = [f"{cpu},{begin},{end},0" for cpu, begin, end in stalls]
    (run.directory / "stalls.csv").write_text(
        "\n".join(["cpu,start_ns,end_ns,waited_ns", *rows, ""])
    )
    predictions = predict(load_application(APP), ["preemptive"], None)
    results = with_predictions(run.results, [run], predictions)
    (chain,) = results.cause_effect_chains
    assert chain.predicted is not None
    assert (chain.predicted.above_age_bound, chain.predicted.age_by_host) == (1, by_host)
    assert chain.predicted.above_own == 1 - by_host


@pytest.mark.parametrize(
    ("response_ms", "cause", "by_host"),
    [(17.7, "host", 1), (17.65, "host", 0), (17.7, "unexplained", 0), (None, "host", 1)],
)
def test_an_age_above_its_bound_is_explained_by_a_segment_that_the_machine_delayed_as_long(
    tmp_path: Path, response_ms: float | None, cause: str, by_host: int
) -> None:
    run = sampled_run(tmp_path / "run", [110.9])  # 0.1 ms above
    segment = Excess(
        chain="eye_to_wheel_1",
        instance=0,
        release=50 * MS,
        response=None if response_ms is None else round(response_ms * MS),
        bound=round(17.6 * MS),
        busy_since=50 * MS,
        lost=0,
        stalled=0,
        stalled_bound=None,
        cause=cause,
    )
    samples = Observed(run.cause_effect_samples(), [], [segment])
    prediction = predict(load_application(APP), ["preemptive"], None).executors["preemptive"]
    (chain,) = run.results.cause_effect_chains
    found = with_sampling_bounds(
        chain, prediction.cause_effect_chains[chain.id], prediction.chains, [samples]
    )
    assert found.predicted is not None
    assert found.predicted.age_by_host == by_host


def test_times_above_a_bound_that_a_run_has_not_kept_count_and_nothing_explains_them(
    tmp_path: Path,
) -> None:
    run = sampled_run(tmp_path / "run", [20, 110.9])  # 0.1 ms above
    kept = run.cause_effect_samples()
    age_ns = round(110.9 * MS)
    # 50 ages of 200 ms are in the histogram only.
    bounds = [20 * MS, age_ns - 200_000, 200 * MS], [20 * MS, age_ns, 200 * MS]
    ages = Times(histogram=Histogram(*bounds, counts=[1, 1, 50]))
    stall = StallRow(cpu=0, start=0, end=10 * MS)
    observed = Observed(kept, [stall], [], {"eye_to_wheel": (Times(), ages)})
    prediction = predict(load_application(APP), ["preemptive"], None).executors["preemptive"]
    (chain,) = run.results.cause_effect_chains
    found = with_sampling_bounds(
        chain, prediction.cause_effect_chains[chain.id], prediction.chains, [observed]
    )
    assert found.predicted is not None
    # The bucket that the bound of 110.8 ms lies in may have times below it, but one is kept.
    assert found.predicted.above_age_bound == 50
    assert found.predicted.age_by_host == 1


def test_bounds_of_earlier_versions_have_no_chains_that_sample(tmp_path: Path) -> None:
    run = sampled_run(tmp_path / "run", [20])
    document = json.loads(predict(load_application(APP), ["preemptive"], None).to_json())
    for chain in document["executors"]["preemptive"]["cause_effect_chains"]:
        del chain["why"]
    (run.directory / BOUNDS).write_text(json.dumps(document))
    results = with_predictions(run.results, [run], Predictions.load(run.directory))
    (chain,) = results.cause_effect_chains
    assert chain.predicted is not None
    assert chain.worst_age is not None
    assert [each.bound_ms for each in chain.worst_age.terms] == [None, None]
    del document["executors"]["preemptive"]["cause_effect_chains"]
    (run.directory / BOUNDS).write_text(json.dumps(document))
    results = with_predictions(run.results, [run], Predictions.load(run.directory))
    assert results.cause_effect_chains[0].predicted is None
    assert not any("data age" in line for line in bound_lines([results]))
