# SPDX-License-Identifier: Apache-2.0
"""Chains that sample: schedules that exceed a limit, advice for younger data, and priorities."""

from __future__ import annotations

from pathlib import Path

import pytest
from rclrt_py.testing.command import Rclrt, finished
from rclrt_py.text import exact

EXAMPLE = Path(__file__).parents[3] / "examples" / "eye_to_wheel" / "app.yaml"
TWO_TIMERS = """
rclrt: 1
name: sampled
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: sense, node: n, timer: {period_ms: 10}, wcet_ms: 1, priority: 1, stores: [x]}
  - {id: act, node: n, timer: {period_ms: 20}, wcet_ms: 2, priority: 2, reads: [x]}
chains:
  - {id: way, callbacks: [sense, act], LIMIT}
"""


def application(directory: Path, limit: str) -> Path:
    path = directory / "app.yaml"
    path.write_text(TWO_TIMERS.replace("LIMIT", limit))
    return path


@pytest.mark.parametrize(
    ("limit", "key", "what"),
    [
        ("max_reaction_ms: 31", "reaction_ms", "reaction time"),
        ("max_age_ms: 12.5", "age_ms", "age"),
    ],
)
def test_a_limit_that_a_schedule_exceeds_is_refuted_and_the_schedule_can_be_simulated(
    tmp_path: Path, rclrt: Rclrt, limit: str, key: str, what: str
) -> None:
    app, schedule = application(tmp_path, limit), tmp_path / "late.yaml"
    answer = rclrt("analyze", app, "--dispatch-us", "0", "--json", "--counter-example", schedule)
    assert answer.code == 1
    (chain,) = answer.json["cause_effect_chains"]
    assert chain["verdict"] == "refuted"
    most, longest = float(limit.split()[1]), chain["counter_example"][key]
    assert most < longest <= chain[key]
    name = limit.split(":", maxsplit=1)[0]
    assert f"has a schedule in which cause-effect chain way exceeds its {name}" in answer.err
    assert f"\n{key}: {exact(longest)}\n" in schedule.read_text()

    replayed = finished(
        "simulate", str(app), "--replay", str(schedule), "--out", str(tmp_path / "o")
    )
    assert replayed.returncode == 0, replayed.stderr
    told = f"cause-effect chain way: longest {what} {exact(longest)} ms, limit {exact(most)} ms"
    assert told in replayed.stdout


def test_a_counter_example_of_an_unknown_chain_is_refused(tmp_path: Path, rclrt: Rclrt) -> None:
    app, schedule = application(tmp_path, "max_age_ms: 12.5"), tmp_path / "late.yaml"
    rclrt("analyze", app, "--counter-example", schedule)
    schedule.write_text(schedule.read_text().replace("chain: way", "chain: wey"))
    answer = rclrt("simulate", app, "--replay", schedule, "--out", tmp_path / "out")
    assert answer.code == 2
    assert "cause-effect chain 'wey' is not declared under 'chains'" in answer.err
    assert not (tmp_path / "out").exists()


def test_advice_states_the_bounds_with_each_change(rclrt: Rclrt) -> None:
    answer = rclrt("analyze", EXAMPLE, "--dispatch-us", "0", "--advise", "--json")
    assert answer.code == 0
    (advice,) = answer.json["advice"]
    assert (advice["id"], advice["reaction_ms"], advice["age_ms"]) == ("eye_to_wheel", 60.8, 110.8)
    best = advice["changes"][0]
    assert (best["kind"], best["callback"], best["writer"][-1]) == ("message", "plan", "see")
    assert best["keeps_the_rest"]
    assert best["age_ms"] < 110.8
    text = rclrt("analyze", EXAMPLE, "--dispatch-us", "0", "--advise").out
    assert "plan runs for each message of see, in place of its timer" in text
    assert "; then another deadline or limit is no longer proved" in text


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            TWO_TIMERS.replace("LIMIT", "deadline_ms: 9").replace("sense, act", "sense"),
            (),
            "no chain",
        ),
        (
            TWO_TIMERS.replace("LIMIT", "max_age_ms: 9"),
            ("--test", "thesis"),
            "--advise: works only",
        ),
        ("{policy: edf, tasks: [{id: a, c: 1, t: 5}]}", (), "--advise: a task set has no chains"),
    ],
)
def test_advice_where_there_is_nothing_to_advise_on_is_refused(
    tmp_path: Path, rclrt: Rclrt, text: str, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    answer = rclrt("analyze", path, "--advise", *arguments)
    assert answer.code == 2
    assert message in answer.err


def test_assign_counts_the_limits_of_chains_that_sample_and_shows_them(rclrt: Rclrt) -> None:
    answer = rclrt("assign", EXAMPLE, "--dispatch-us", "0", "--json")
    assert answer.code == 0
    (chain,) = answer.json["cause_effect_chains"]
    assert chain["age_ms"] < chain["age_ms_before"] == 110.8
    ratios = chain["reaction_ms"] / 100, chain["age_ms"] / 130
    assert answer.json["after"]["worst_bound_by_deadline"] == pytest.approx(max(ratios))
    lines = [
        line.split() for line in rclrt("assign", EXAMPLE, "--dispatch-us", "0").out.splitlines()
    ]
    assert lines[2][:2] == ["eye_to_wheel_1", "17.6"]
    assert lines[2][3] == "-"  # no deadline
    age = exact(chain["age_ms"])
    assert ["eye_to_wheel,", "data", "age", "110.8", age, "130"] in lines
