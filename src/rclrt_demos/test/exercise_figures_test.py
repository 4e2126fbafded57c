# SPDX-License-Identifier: Apache-2.0
"""Statistics, tables, sentences and pictures, from figures made by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fake_program import figures_of
from rclrt_demos.exercise_table import rows, table_lines
from rclrt_demos.exercises import BASELINE, EXERCISES, SOLUTION, Exercise, find_exercise
from rclrt_demos.host import HostShare
from rclrt_demos.live import MASS, frame
from rclrt_demos.measured import Measured, State, Statistics, pooled
from rclrt_demos.rounds import Outcome, interleaved
from rclrt_demos.scales import Scale, tick_step, time_label
from rclrt_demos.verdict import Shown, effect_of, sentences
from rclrt_py.errors import BadInput

from rclrt_demos import histogram, pendulum_picture

US, MS = 1000, 1_000_000


def a_round(variant: str, slice_name: str, values_ns: Sequence[int], **more: Any) -> Measured:
    fields: dict[str, Any] = {"seconds": 1.0, "real_time": True, "reason": ""} | more
    return Measured(variant=variant, slices={slice_name: list(values_ns)}, **fields)


def an_outcome(
    name: str,
    flaw: Sequence[Sequence[int]],
    fix: Sequence[Sequence[int]],
    stress: str = "2 busy processes",
    host_share: float | None = 0.0,
    **more: Any,
) -> Outcome:
    """The outcome of rounds with these durations in nanoseconds."""
    exercise = find_exercise(name)
    rounds = {
        variant: [a_round(variant, exercise.slice_name, values, **more) for values in own]
        for variant, own in ((BASELINE, flaw), (SOLUTION, fix))
        if own
    }
    return Outcome(exercise, rounds, {}, host_share, stress)


def test_statistics_are_those_of_the_values_in_microseconds() -> None:
    found = Statistics.of(range(1 * US, 201 * US, US))  # 1 to 200 µs
    assert found == Statistics(n=200, min_us=1.0, mean_us=100.5, p99_us=198.0, max_us=200.0)
    assert found.spread_us == 199.0
    assert Statistics.of([7]) == Statistics(1, 0.007, 0.007, 0.007, 0.007)
    assert Statistics.of([]) is None


def test_rounds_alternate_and_neither_variant_always_has_the_first_half() -> None:
    assert interleaved("AB", 1) == ["A", "B"]
    assert interleaved("AB", 4) == ["A", "B", "B", "A", "A", "B", "B", "A"]
    assert interleaved("A", 3) == ["A", "A", "A"]


def test_pooled_rounds_have_all_values_and_the_sum_of_the_counters() -> None:
    first = a_round(BASELINE, "Wakeup", [1, 2], notes={"overruns": 2, "resets": 1})
    second = a_round(BASELINE, "Wakeup", [3], notes={"overruns": 5}, real_time=False, reason="no")
    both = pooled([first, second])
    assert both.slices == {"Wakeup": [1, 2, 3]}
    assert both.notes == {"overruns": 7, "resets": 1}
    assert (both.seconds, both.real_time, both.reason) == (2.0, False, "no")


def test_a_file_is_read_as_the_programs_write_it(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    made = figures_of(BASELINE, {"Wakeup": [5, 6]}, pendulum=[[0.0, 0.6, 0.1]], notes={"a": 1})
    made["slices"] += [{"name": "Wakeup", "values_ns": [7]}]  # type: ignore[operator]
    file.write_text(json.dumps(made | {"pid": 7}))
    measured = Measured.load(file)
    assert measured.slices == {"Wakeup": [5, 6, 7]}  # of two threads
    assert measured.pendulum == [State(0.0, 0.6, 0.1)]
    assert measured.notes == {"a": 1}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"slices": [{"name": "a", "values_ns": [-1]}]}, "slices[0].values_ns[0] is -1"),
        ({"slices": [{"name": "a", "values_ns": [0.5]}]}, "slices[0].values_ns[0] is 0.5"),
        ({"slices": [{"values_ns": []}]}, "slices[0].name is missing"),
        ({"real_time": "yes"}, "real_time is"),
        ({"pendulum": [[0.0, 1.0]]}, "pendulum[0] is [0.0, 1.0]"),
        ({"notes": {"overruns": "many"}}, "notes.overruns is"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(
    change: dict[str, object], place: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(figures_of(BASELINE, {"Wakeup": [5]}) | change))
    with pytest.raises(BadInput) as raised:
        Measured.load(file)
    assert str(file) in str(raised.value)
    assert place in str(raised.value)


def test_an_effect_shows_if_it_does_in_most_rounds() -> None:
    fix = [[10 * US]] * 3
    assert effect_of(an_outcome("2-1", [[21 * US]] * 3, fix)).shown is Shown.YES
    assert effect_of(an_outcome("2-1", [[21 * US]] * 2 + [[5 * US]], fix)).shown is Shown.YES
    # The host may cause one large value of five rounds.
    once = an_outcome("2-1", [[9000 * US], [10 * US], [10 * US]], fix)
    assert effect_of(once).shown is Shown.SOMETIMES
    assert effect_of(an_outcome("2-1", [[20 * US]] * 3, fix)).shown is Shown.NO  # not more than 2
    # What happens to the fix as often is noise.
    noise = an_outcome("2-1", [[9000 * US], [10 * US]], [[10 * US], [9000 * US]])
    assert effect_of(noise).shown is Shown.NO


def test_the_sentence_gives_the_medians_of_the_rounds() -> None:
    outcome = an_outcome("1", [[30 * US], [50 * US], [40 * US]], [[9000 * US], [5 * US], [4 * US]])
    effect = effect_of(outcome)
    assert (effect.shown, effect.flaw_us, effect.fix_us) == (Shown.YES, 40.0, 5.0)
    assert sentences(outcome)[0].startswith(
        "In the median of 3 rounds the largest Wakeup is 40 µs with SCHED_OTHER and 5 µs with "
        "SCHED_FIFO 80, 8.0 times as much: "
    )


def test_means_and_spreads_are_compared_where_the_exercise_says_so() -> None:
    means = effect_of(an_outcome("4-2", [[9 * MS, 15 * MS]], [[3 * MS, 5 * MS]]))
    assert (means.flaw_us, means.fix_us, means.ratio) == (12_000, 4000, 3.0)
    spreads = effect_of(an_outcome("4-1", [[25 * MS, 39 * MS]], [[33 * MS, 34 * MS]]))
    assert (spreads.flaw_us, spreads.fix_us, spreads.ratio) == (14_000, 1000, 14.0)


def test_the_sentence_follows_from_the_figures() -> None:
    shown = sentences(an_outcome("2-1", [[1 * US, 5000 * US]], [[1 * US, 6 * US]]))
    assert shown[0].startswith(
        "The largest GetDesiredPosition is 5000 µs with std::mutex and 6 µs with "
        "std::atomic<double>, 833 times as much: the control loop waits"
    )
    assert shown[1:] == [
        "Above the loop's period of 1000 µs: 1 of 2 with std::mutex and 0 of 2 with "
        "std::atomic<double>."
    ]
    hidden = sentences(an_outcome("2-1", [[7 * US]], [[6 * US]], stress=""))
    assert hidden[0].startswith("The effect did not show. The largest GetDesiredPosition is 7 µs")
    assert "nothing competed for the CPUs; --stress makes it" in hidden[-1]
    assert "1 s may be too short" in hidden[-1]


def test_without_permission_it_says_what_cannot_be_shown() -> None:
    denied: dict[str, Any] = {"real_time": False, "reason": "SCHED_FIFO denied: add rtprio 90"}
    said = "\n".join(sentences(an_outcome("2-2", [[7 * US]], [[6 * US]], **denied)))
    assert "without real-time scheduling no thread comes before another" in said
    told = "Not real-time, so what priorities do cannot be shown: SCHED_FIFO denied: add rtprio 90."
    assert said.count(told) == 1


def test_counters_are_summed_over_the_rounds() -> None:
    rounds = [[9 * US]] * 2
    counted = sentences(an_outcome("2-1", rounds, rounds, notes={"missed_cycles": 3, "cycles": 7}))
    assert (
        "Counted with std::mutex: missed cycles 6, cycles 14; with std::atomic<double>: missed "
        "cycles 6, cycles 14."
    ) in counted


def test_what_the_host_took_is_said_only_if_it_took_much() -> None:
    flaw, fix = [[9 * US]], [[1 * US]]
    much = sentences(an_outcome("1", flaw, fix, host_share=0.031))
    assert "took 3.1 % of the CPU time" in much[-1]
    for share in (0.004, None):
        assert not any("host" in said for said in sentences(an_outcome("1", flaw, fix, "", share)))


def test_the_host_s_share_is_its_part_of_the_time_that_passed(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 50 800 0 0 0 50 7 0\n")
    share = HostShare(stat)
    assert share.so_far() == 0.0
    stat.write_text("cpu  160 0 60 820 0 0 0 60 9 0\n")  # 60 + 10 + 20 + 10
    assert share.so_far() == pytest.approx(0.1)
    assert HostShare(tmp_path / "none").so_far() is None


def test_the_table_has_the_workshop_s_figures_beside_the_measured_ones() -> None:
    lines = list(table_lines(an_outcome("3-2", [[9 * MS]], [[4 * MS, 5 * MS]])))
    assert lines[1].split() == ["µs", "count", "min", "mean", "p99", "max"]
    assert lines[2].split()[-5:] == ["1", "9000", "9000", "9000", "9000"]  # none was published
    assert lines[3].split()[-5:] == ["2", "4000", "4500", "5000", "5000"]
    assert lines[4].split() == ["workshop's", "-", "4170", "4400", "-", "5870"]
    assert len(lines) == 5


def test_rows_begin_with_the_slice_in_question() -> None:
    exercise = find_exercise("3-1")
    slices = {"MessageDelay": [2 * US], "EndToEndDelay": [3 * US]}
    measured = Measured(BASELINE, 1.0, True, "", slices)
    made = rows(Outcome(exercise, {BASELINE: [measured]}, {}, None, ""))
    assert [row["slice"] for row in made] == ["EndToEndDelay", "MessageDelay"]
    assert made[0] == {
        "exercise": "3-1", "variant": "baseline", "slice": "EndToEndDelay", "n": 1,
        "min_us": 3.0, "mean_us": 3.0, "p99_us": 3.0, "max_us": 3.0,
    }  # fmt: skip


def test_every_value_is_in_one_bin_of_the_histogram() -> None:
    scale = Scale.of_times([20, 5_000_000], 0, 100, logarithmic=True)
    assert scale.ticks() == [10.0 * 10**n for n in range(7)]
    counts = histogram.Histogram.of([3, 10, 99_999, 5_000_000, 10_000_000], scale, 6).counts
    assert counts == [2, 0, 0, 1, 0, 2]  # below the scale and at its end: the outermost


def test_scales_end_at_round_values_around_what_they_show() -> None:
    scale = Scale.of_times([24.6 * MS, 39.3 * MS], 0, 100, logarithmic=False)
    assert (scale.low, scale.high) == (24 * MS, 40 * MS)
    assert scale(32 * MS) == pytest.approx(50)
    assert Scale.of_times([5, 5], 0, 100, logarithmic=False).low == 5
    assert [tick_step(extent) for extent in (8, 10, 30, 70)] == [1, 2, 5, 10]
    assert [time_label(ns) for ns in (0, 7, 2500, 33_200_000, 2e9)] == [
        "0", "7 ns", "2.5 µs", "33.2 ms", "2 s",
    ]  # fmt: skip


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_pictures_are_well_formed_and_have_a_panel_for_each_variant(exercise: Exercise) -> None:
    made = histogram.draw(an_outcome(exercise.name, [[0, 40 * MS]], [[33 * MS]]))
    texts = [each.text for each in ElementTree.fromstring(made).iter() if each.text]
    assert exercise.flaw in texts
    assert exercise.fix in texts
    one = histogram.draw(an_outcome(exercise.name, [], [[33 * MS]]))
    texts = [each.text for each in ElementTree.fromstring(one).iter() if each.text]
    assert exercise.fix in texts
    assert exercise.flaw not in texts


def test_the_pendulum_is_drawn_where_there_is_one() -> None:
    states = [State(0.01 * n, 0.6, 0.1) for n in range(100)]
    drawn = pendulum_picture.draw(an_outcome("2-1", [[US]], [[US]], pendulum=states))
    assert drawn.count("<polyline") == 4  # position and desired position, twice
    ElementTree.fromstring(drawn)
    assert pendulum_picture.draw(an_outcome("1", [[US]], [[US]])) == ""


@pytest.mark.parametrize(
    ("angle", "row", "column"),
    [(0.0, 0, 24), (math.pi / 2, 11, 47), (-math.pi / 2, 11, 1), (math.pi / 4, 3, 40)],
)
def test_the_pendulum_on_the_terminal_stands_where_it_is(
    angle: float, row: int, column: int
) -> None:
    label, words, *canvas, _floor = frame(angle, "std::mutex", 0.0)
    assert (label, words) == ("std::mutex", f"{math.degrees(angle):+6.1f}° from upright")
    places = [
        (r, c) for r, line in enumerate(canvas) for c, each in enumerate(line) if each == MASS
    ]
    assert places == [(row, column)]


def test_the_terminal_says_when_there_is_no_news() -> None:
    assert list(frame(None, "", 0.0))[1] == "no position yet"
    assert "no news for 2.0 s" in list(frame(0.0, "", 2.0))[1]
