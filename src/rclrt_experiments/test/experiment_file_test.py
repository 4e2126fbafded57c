# SPDX-License-Identifier: Apache-2.0
"""Experiment files: the content of the bundled ones, and errors with their places."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_experiments.experiment import THESIS, bundled, load_experiment, read_experiment
from rclrt_experiments.unit import draw
from rclrt_py.errors import BadInput
from rclrt_py.native import model
from small_experiment import SMALL

HERE = Path(__file__).resolve().parent
SCHEMA = json.loads((HERE.parents[2] / "schemas" / "experiment.schema.json").read_text())
FILES = sorted((HERE.parent / "rclrt_experiments" / "bundled").glob("*.yaml"))


def schema_accepts(document: Any) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_bundled_is_named_as_its_file_and_fits_the_schema(path: Path) -> None:
    assert load_experiment(path.stem).name == path.stem
    assert schema_accepts(model().read_yaml(path))


def test_the_theses_experiments_have_its_points_and_trials() -> None:
    # Tables 7.2, 7.3, 7.5, 7.7 and 7.8.
    sizes = {name: (len(load_experiment(name).points), load_experiment(name).trials)
             for name in THESIS}  # fmt: skip
    assert sizes == {
        "overhead": (3, 50), "utilisation": (9, 50), "chain-length": (5, 50),
        "priority-chain": (5, 50), "synthesis": (6, 20),
    }  # fmt: skip
    assert all(load_experiment(name).seconds == 30 for name in THESIS)


def test_utilisations_go_from_10_to_90_percent_and_are_met() -> None:
    experiment = load_experiment("utilisation")
    totals = [point.rules.util_total for point in experiment.points]
    assert totals == [Decimal(n) / 10 for n in range(1, 10)]
    for n, total in enumerate(totals):
        times = draw(experiment, n, 1, "preemptive").generated.times
        assert sum(time.utilisation for time in times) == total
        assert total < Decimal("0.3") or all(t.utilisation >= Decimal("0.05") for t in times)


@pytest.mark.parametrize("name", ["chain-length", "priority-chain"])
def test_work_and_periods_grow_with_the_length_of_chains(name: str) -> None:
    experiment = load_experiment(name)
    for trial in (1, 2, 3):
        first = draw(experiment, 0, trial, "preemptive").generated.times
        for n, length in enumerate((2, 4, 6, 8, 10)):
            times = draw(experiment, n, trial, "preemptive").generated.times
            assert [t.period_us for t in times] == [t.period_us * length // 2 for t in first]
            assert [t.utilisation for t in times] == [t.utilisation for t in first]


def test_the_priority_chain_is_the_fastest_and_alone_above_the_others() -> None:
    for trial in range(1, 6):
        generated = draw(load_experiment("priority-chain"), 0, trial, "preemptive").generated
        assert generated.priorities == [1, 0, 0, 0, 0]
        assert generated.times[0].period_us == min(time.period_us for time in generated.times)


def test_each_chain_of_the_overhead_experiment_has_a_fifth_of_the_load() -> None:
    times = draw(load_experiment("overhead"), 0, 7, "preemptive").generated.times
    assert [(t.period_us, t.execution_ns) for t in times] == [(1_000_000, 120_000_000)] * 5


BROKEN = {
    "rclrt: 1": ("rclrt: 2", "rclrt is 2; expected format version 1"),
    "kind: experiment": ("kind: app", "kind is \"app\"; expected 'experiment'"),
    "name: small": ("name: ../up", 'name is "../up"; expected up to 100 letters'),
    "trials: 4": ("trials: 0", "trials is 0; expected 1 to"),
    "seconds: 2": ("seconds: -1", "seconds is -1; expected 0.01"),
    "title: A small one": ("titel: x", "titel is not known; did you mean 'title'?"),
    "wait_set, ": ("wait_st, ", 'executors[0] is "wait_st"; expected one of wait_set'),
    "[wait_set": ("['wait_set:threads=x'", "executors[0]: executor option 'threads=x'"),
    "util_total: 0.8": ("util_total: x", 'points[1].rules.util_total is "x"; expected a number'),
    "util_total: 0.2": ("random_seed: 2", "points[0].rules.random_seed is 2; expected no such"),
    'label: "80 %"': ('label: "20 %"', 'points[1].label is "20 %"; expected a text that'),
    "dispatch_us: 30": ("dispatch_us: -3", "simulation.dispatch_us is -3; expected microseconds"),
    "phases: random": ("phases: any", 'phases is "any"; expected one of zero, random'),
    "lowest_execution: 0.5": ("lowest_execution: 2", "lowest_execution is 2; expected a share"),
}


@pytest.mark.parametrize("good", BROKEN)
def test_what_is_wrong_is_named_with_its_place(small: Path, good: str) -> None:
    bad, said = BROKEN[good]
    assert good in SMALL
    small.write_text(SMALL.replace(good, bad))
    with pytest.raises(BadInput) as raised:
        read_experiment(small)
    assert str(raised.value).startswith(f"{small}: ")
    assert said in str(raised.value)
    structural = not any(word in good for word in ("util_total", "label"))
    assert not structural or not schema_accepts(model().read_yaml(small))


@pytest.mark.parametrize("text", ["", "[]", "a: &x 1", "points: [", "rclrt: 1\nrclrt: 1", "\0"])
def test_what_is_no_experiment_is_refused(small: Path, text: str) -> None:
    small.write_text(text)
    with pytest.raises(BadInput, match=str(small)):
        read_experiment(small)


def test_a_close_name_is_proposed() -> None:
    assert set(THESIS) <= set(bundled())
    with pytest.raises(BadInput, match="did you mean 'utilisation'"):
        load_experiment("utilization")


def test_under_edf_the_callbacks_of_a_chain_share_its_deadline() -> None:
    drawn = draw(load_experiment("chain-length"), 1, 3, "edf")
    callbacks = {callback.id: callback for callback in drawn.model.callbacks}
    for chain, deadline_ns in zip(
        drawn.generated.graph.chains, drawn.generated.deadlines_ns, strict=True
    ):
        shares = [callbacks[drawn.generated.id_of(each)].deadline_ns for each in chain]
        assert shares == [deadline_ns // len(chain)] * len(chain)
    others = draw(load_experiment("chain-length"), 1, 3, "preemptive").model.callbacks
    assert all(callback.deadline_ns is None for callback in others)
