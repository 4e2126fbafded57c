# SPDX-License-Identifier: Apache-2.0
"""Reaction times and data ages of an experiment: direct chains, sampled ones, and LET."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest
from rclrt_experiments.experiment import Experiment, load_experiment, read_experiment
from rclrt_experiments.outputs import MEASURES, output_parts, values
from rclrt_experiments.parts import Figure, Table
from rclrt_experiments.rows import OutputRow
from rclrt_experiments.unit import Done, Unit, draw, simulate_unit, with_phases
from rclrt_py.testing.command import Command
from small_experiment import read_csv

NAMES = DIRECT, SAMPLED, LET = "preemptive", "preemptive+sampled", "preemptive+let"
TEXT = """\
rclrt: 1
kind: experiment
name: links
title: Links
varied: callbacks
trials: 3
seconds: 2
executors: [preemptive, preemptive+sampled, preemptive+let]
rules: {chain_count: 3, util_total: 0.3, min_period_us: 20000, max_period_us: 50000, limits: all}
points:
  - {label: "2", rules: {chain_avg_len: 2}}
  - {label: "5", panel: long, rules: {chain_avg_len: 5}}
simulation: {dispatch_us: 30, lowest_execution: 0.5, phases: random}
"""


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.yaml"
    path.write_text(TEXT)
    return path


def outputs(experiment: Experiment, point: int, trial: int, executor: int) -> list[OutputRow]:
    unit = Unit(0, point, trial, executor)
    return list(simulate_unit(experiment, NAMES, experiment.seconds, unit).outputs)


def test_the_work_is_the_same_whatever_the_links_are(links: Path) -> None:
    experiment = read_experiment(links)
    for trial in (1, 2):
        direct, sampled, logical = (draw(experiment, 1, trial, name).generated for name in NAMES)
        assert sampled.execution_ns == logical.execution_ns
        for callback, own in direct.execution_ns.items():
            assert abs(sampled.execution_ns[callback] - own) <= 1  # rounded
        assert (
            sampled.load() == logical.load() == pytest.approx(Decimal("0.3"), abs=Decimal("1e-6"))
        )
        assert direct.load() == pytest.approx(sampled.load(), abs=Decimal("1e-6"))
        assert [len(path) for path in direct.paths] == [1, 1, 1]
        assert [len(path) for path in sampled.paths] == [5, 5, 5]
        assert not sampled.logical
        assert len(logical.logical) == 15
        first = with_phases(direct, trial).offsets_us
        all_of = with_phases(sampled, trial).offsets_us
        assert all_of == with_phases(logical, trial).offsets_us
        assert {timer: all_of[timer] for timer in first} == first
        assert len(set(all_of.values())) > 10


@dataclass(frozen=True)
class Times:
    """The times of a row that has all of them, in milliseconds."""

    best: float
    worst: float
    bound: float

    @classmethod
    def of(cls, best: float | None, worst: float | None, bound: float | None) -> Times:
        assert best is not None
        assert worst is not None
        assert bound is not None
        assert 0 < best <= worst <= bound
        return cls(best, worst, bound)


def reaction_of(row: OutputRow) -> Times:
    return Times.of(row.reaction_best_ms, row.reaction_worst_ms, row.reaction_bound_ms)


def age_of(row: OutputRow) -> Times:
    return Times.of(row.age_best_ms, row.age_worst_ms, row.age_bound_ms)


def test_no_time_is_above_its_bound_and_the_links_have_their_price(links: Path) -> None:
    experiment = read_experiment(links)
    for point, length in ((0, 2), (1, 5)):
        for trial in (1, 2, 3):
            direct, sampled, logical = (outputs(experiment, point, trial, n) for n in range(3))
            for rows, segments in ((direct, 1), (sampled, length), (logical, length)):
                assert [row.chain for row in rows] == ["chain0", "chain1", "chain2"]
                for row in rows:
                    assert row.segments == segments
                    assert row.n > 20
                    assert age_of(row).worst < reaction_of(row).worst
            for one, two, three in zip(direct, sampled, logical, strict=True):
                assert age_of(one).bound < age_of(two).bound < age_of(three).bound
                assert age_of(one).best < age_of(one).worst
                # A period from each release to the next, and as the deadline of each segment.
                assert reaction_of(three).bound == pytest.approx(2 * length * three.period_ms)
                assert age_of(three).best >= length * three.period_ms
                for times in (reaction_of(three), age_of(three)):
                    assert times.best == times.worst  # no jitter


def test_the_command_writes_rows_and_a_page_and_continues(
    experiment: Command, links: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = (links, "--simulate", "--jobs", 1, "--out", out)
    assert experiment(*arguments).returncode == 0
    rows = read_csv(out / "outputs.csv", OutputRow)
    assert len(rows) == 2 * 3 * 3 * 3
    page = (out / "report.html").read_text()
    assert "Longest reaction time / period (long)" in page
    assert "preemptive, LET, bound" in page
    assert "Worst response / period" not in page
    assert "come out alike" not in page  # responses do, but not what is compared
    figures = {path.name for path in (out / "figures").iterdir()}
    assert figures == {
        f"links_{panel}{each.name}.svg" for panel in ("", "long_") for each in MEASURES
    }
    journal = out / "done.jsonl"
    whole = (out / "outputs.csv").read_bytes()
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:7]))
    assert experiment(*arguments, "--resume").returncode == 0
    assert (out / "outputs.csv").read_bytes() == whole


def test_the_figures_have_medians_and_the_bounds_that_there_are(links: Path) -> None:
    small = read_experiment(links)
    row = outputs(small, 0, 1, 0)[0]
    rows = [
        replace(row, varied="2", executor=DIRECT, period_ms=10.0, reaction_worst_ms=10.0 * n,
                reaction_bound_ms=30.0 * n if n > 10 else None)
        for n in range(1, 21)
    ]  # fmt: skip
    assert values(rows, MEASURES[0].seen) == list(range(1, 21))
    table, figure, *_ = output_parts(small, [DIRECT, LET], rows)
    assert isinstance(table, Table)
    assert list(table.heads) == ["", "2"]
    assert table.rows[:2] == [
        ["preemptive", "10.00 (19.00)"], ["preemptive, bound", "45.00 (60.00), 50%"],
    ]  # fmt: skip
    assert table.rows[2:] == [["preemptive, LET", "-"], ["preemptive, LET, bound", "-"]]
    assert isinstance(figure, Figure)
    assert figure.name == "links_reaction"
    assert figure.svg.count("<polygon") == 1  # the bound


def test_a_unit_without_outputs_is_read_as_before() -> None:
    done = Done(infeasible="no")
    value = json.loads(json.dumps(done.to_json()))
    assert Done.from_json(value) == done
    del value["outputs"]
    assert Done.from_json(value) == done


def test_the_bundled_experiment_varies_length_and_utilisation_of_one_workload() -> None:
    sampling = load_experiment("sampling")
    assert sampling.executors == NAMES
    lengths = [each.rules for each in sampling.points if each.panel == "50 % utilisation"]
    assert [rules.chain_avg_len for rules in lengths] == list(range(2, 9))
    loads = [each.rules for each in sampling.points if each.panel == "4 callbacks"]
    assert [rules.util_total for rules in loads] == [Decimal(n) / 10 for n in range(1, 10)]
