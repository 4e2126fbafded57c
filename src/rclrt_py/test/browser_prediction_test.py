# SPDX-License-Identifier: Apache-2.0
"""Predicted, simulated and observed in one report, and why deadlines were missed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.bounds.predicted import PredictedChain, Prediction, Predictions
from rclrt_py.comparisons.comparison import combine, load_single_run
from rclrt_py.report.page import make_report
from rclrt_py.runs.cause_effect import CauseEffectResult, SamplingPrediction
from rclrt_py.runs.cause_effect_way import Way, WayTerm
from rclrt_py.runs.output_directory import BOUNDS
from rclrt_py.stats import Summary
from rclrt_py.testing.browser import EVIL, NARROW, WIDE, Browser, overlaps
from rclrt_py.testing.scheduler_model import Callback, Chain
from rclrt_py.testing.synthetic_run import write_run
from rclrt_py.text import NO_DEADLINE_MS

BOUND_MS = 27.5
NOTHING = "\N{EN DASH}"


def miss(chain: str, response_ms: float | None, culprit: str) -> dict[str, Any]:
    return {
        "chain": chain,
        "instance": 7,
        "release_ms": 350.0,
        "status": "pending" if response_ms is None else "late",
        "response_ms": response_ms,
        "execution_ms": 11.0,
        "delayed_ms": 20.5,
        "transit_ms": 0.25,
        "unexplained_ms": 0.125,
        "host_stall_ms": 0.0,
        "culprits": [
            {
                "callback": culprit,
                "instance": 40,
                "priority": 1,
                "reason": "less urgent",
                "time_ms": 20.5,
                "cpu_ms": 20.5,
            }
        ],
        "text": "not shown",
    }


def edit(directory: Path, **more: Any) -> None:
    path = directory / "results.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with bounds and misses beside a run of the wait set and a simulation."""
    root = tmp_path_factory.mktemp("report")
    observed = write_run(root / "observed", "preemptive", 2.0)
    edit(observed, misses=[])
    late = PredictedChain("planning", None, "unknown", (), 2, (1,), "the load is too high")
    chain = PredictedChain(
        *("obstacle", BOUND_MS, "proved", (), 3, (1,), ""),
        callbacks=("capture", "identify", "fuse", "detect", "brake"),
        step_bounds_ms=(4.0, 11.0, None, 20.0, BOUND_MS),
    )
    predictions = Predictions(
        {"preemptive": Prediction({"obstacle": chain, "planning": late}, ())}, ""
    )
    (observed / BOUNDS).write_text(predictions.to_json())
    baseline = write_run(root / "baseline", "wait_set", 2.0)
    edit(
        baseline,
        misses=[
            miss("obstacle", 31.875, "localize"),
            miss("obstacle", None, EVIL),
            miss("obstacle", 30.25, "record") | {"more_culprits": 7, "more_culprits_ms": 12.5},
        ],
    )
    simulated = write_run(root / "simulated", "preemptive", 2.0, seed=5)
    edit(
        simulated,
        simulated={"seed": 5, "lowest_execution": 0.5},
        executor_label="simulated: preemptive",
    )
    comparison = combine([load_single_run(each) for each in (observed, baseline, simulated)])
    path = root / "report.html"
    path.write_text(make_report(comparison, observed, path), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_bound_is_drawn_where_the_axis_says_and_only_where_there_is_one(
    browser: Browser, page: Path, width: int
) -> None:
    browser.open(page, width)
    assert browser.messages() == []
    assert overlaps(browser) == []
    assert browser.run("return document.documentElement.scrollWidth") == width
    bounds, ticks = browser.run(
        """
        const svg = document.querySelector('.distribution svg');
        return [
          [...svg.querySelectorAll('.bound')].map((one) => Number(one.getAttribute('x1'))),
          [...svg.querySelectorAll('.axis .tick')]
            .map((one) => [Number(one.textContent), Number(one.getAttribute('x'))])];
        """
    )
    (t0, x0), (t1, x1) = ticks[0], ticks[-1]
    assert bounds == [pytest.approx(x0 + (BOUND_MS - t0) / (t1 - t0) * (x1 - x0))]
    others = "return document.querySelectorAll('.distribution svg .bound').length"
    assert browser.run(others) == 1


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_widest_table_fits_a_wide_screen_and_scrolls_by_itself_on_a_narrow_one(
    browser: Browser, page: Path, width: int
) -> None:
    browser.open(page, width)
    shown, needed, overflow = browser.run(
        """
        const panel = document.querySelector('#figures .scroller');
        return [panel.clientWidth, panel.scrollWidth, getComputedStyle(panel).overflowX];
        """
    )
    assert overflow == "auto"
    assert (needed > shown) == (width == NARROW)


def test_bound_verdict_and_what_is_above_stand_in_the_table_beside_the_figures(
    browser: Browser, page: Path
) -> None:
    browser.open(page)
    heads, rows = browser.run(
        """
        const cells = (row) => [...row.children].map((cell) => cell.textContent);
        const rows = document.querySelectorAll('table.figures tbody:first-of-type tr');
        return [cells(document.querySelector('table.figures thead tr')),
          [...rows].slice(1).map(cells)];
        """
    )
    at = heads.index("Boundms")
    assert heads[at + 1 : at + 4] == ["Verdict", "Abovethe bound", "by host"]
    assert [(row[0], row[at : at + 4]) for row in rows] == [
        ("preemptive", ["27.500", "proved", "0", "0"]),
        ("wait set (rclcpp semantics)", [NOTHING] * 4),
        ("simulated: preemptive", [NOTHING] * 4),
    ]


def test_each_callback_on_the_way_has_its_bound_beside_the_worst_that_was_seen(
    browser: Browser, page: Path
) -> None:
    browser.open(page)
    rows = browser.run(
        """
        return [...document.querySelectorAll('#bounds tbody tr')].slice(1)
          .map((row) => [...row.children].map((cell) => cell.textContent));
        """
    )
    assert [row[:3] for row in rows] == [
        ["capture", "preemptive", "4.000"],
        ["identify", "preemptive", "11.000"],
        ["fuse", "preemptive", NOTHING],
        ["detect", "preemptive", "20.000"],
        ["brake", "preemptive", "27.500"],
    ]
    observed = [float(row[3]) for row in rows]
    assert observed == sorted(observed)
    assert rows[0][4] == f"{observed[0] / 4:.2f}"
    worst = browser.run(
        """
        const row = document.querySelector('table.figures tbody tr:nth-child(2)');
        return Number(row.children[9].textContent);
        """
    )
    assert observed[-1] == worst


def test_the_page_names_why_a_deadline_is_not_proved(browser: Browser, page: Path) -> None:
    browser.open(page)
    shown = (
        "return [...document.getElementById('bound-reasons').children].map((e) => e.textContent)"
    )
    assert browser.run(shown) == ["preemptive: planning", "the load is too high"]


def test_a_simulation_stands_beside_the_runs_and_says_what_it_is(
    browser: Browser, page: Path
) -> None:
    browser.open(page)
    drawn = "return document.querySelectorAll('.distribution svg .simulated .on-time').length"
    assert browser.run(drawn) > 0
    machine = browser.run("return document.getElementById('machine').textContent")
    assert "Simulated: preemptive" in machine
    assert "seed 5, execution times from 0.5 times the WCET" in machine
    assert "Model CPU" in machine
    assert "one run of preemptive, one of wait_set" in machine


def test_misses_are_a_table_with_where_the_time_went_and_who_was_in_the_way(
    browser: Browser, page: Path
) -> None:
    browser.open(page)
    rows = browser.run(
        """
        return [...document.querySelectorAll('#misses tbody tr')]
          .map((row) => [...row.children].map((cell) => cell.textContent));
        """
    )
    assert rows[0] == ["obstacledeadline 30 ms"]
    name = "wait set (rclcpp semantics) #7"
    times = ["11.000", "20.500", "0.250", "0.125", "0.000"]
    assert rows[1:] == [
        [name, "0.350", "pending", *times, f"{EVIL} 20.5 ms less urgent"],
        [name, "0.350", "31.875", *times, "localize 20.5 ms less urgent"],
        [name, "0.350", "30.250", *times, "record 20.5 ms less urgentand 7 more, 12.5 ms in all"],
    ]


def test_without_a_miss_the_report_says_so(browser: Browser, tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    edit(directory, misses=[])
    path = directory / "report.html"
    path.write_text(make_report(load_single_run(directory), directory), encoding="utf-8")
    browser.open(path)
    shown = "return document.getElementById('misses').textContent"
    assert browser.run(shown) == "Missed deadlinesNo deadline was missed."


SAMPLED = CauseEffectResult(
    *("eye_to_wheel", ("see", EVIL), 100.0, 31.0, 9, 8, 12, 1, 0, 2),
    Summary(20.0, 30.0, 31.0, 39.0, 40.0),
    Summary(1.0, 2.0, 2.5, 3.0, 31.25),
    SamplingPrediction(50.0, 25.0, "proved", (), 0, 3, 0, 3, ""),
    worst_age=Way(
        320.0,
        31.25,
        (
            WayTerm("response", "see", "image", 4, 6.25, 5.0),
            WayTerm("sampling", EVIL, "plan", 5, 20.0, 15.0),
            WayTerm("response", EVIL, "plan", 5, 5.0, 5.0),
        ),
    ),
)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_chains_that_sample_have_a_table_with_limits_and_bounds(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    comparison = load_single_run(write_run(tmp_path / "run", "preemptive", 1.0))
    (results,) = comparison.executors
    comparison = replace(comparison, executors=(replace(results, cause_effect_chains=(SAMPLED,)),))
    path = tmp_path / "report.html"
    path.write_text(make_report(comparison, tmp_path / "run", path), encoding="utf-8")
    browser.open(path, width)
    assert browser.messages() == []
    assert overlaps(browser) == []
    assert browser.run("return document.documentElement.scrollWidth") == width
    head, *rows = browser.run(
        """
        return [...document.querySelectorAll('#sampling tr')]
          .map((row) => [...row.children].map((cell) => cell.textContent));
        """
    )
    assert head[-5:] == ["Boundms", "Worst÷ bound", "Verdict", "Abovethe bound", "by host"]
    assert rows[0] == [f"eye_to_wheelsee → {EVIL}"]
    assert rows[1][1:4] == ["reaction", "8 of 9", "12"]
    assert rows[1][7:] == ["40.000", "100.000", "0", "50.000", "0.80", "proved", "0", "0"]
    assert rows[2][7:] == ["31.250", "31.000", "2", "25.000", "1.25", "proved", "3", "3"]
    late = "return [...document.querySelectorAll('#sampling .late-text')].map((e) => e.textContent)"
    assert browser.run(late) == ["2"]
    terms, bounds, texts, ticks = browser.run(
        """
        const boxes = (bar) => [...bar.querySelectorAll('rect')].map(
          (box) => [box.className.baseVal, box.getBBox().x, box.getBBox().width]);
        const [svg] = document.querySelectorAll('#sampling .ways svg');
        return [...[...svg.querySelectorAll('.way')].map(boxes),
          [...document.querySelectorAll('#sampling .ways .key')].map((key) => key.textContent),
          [...svg.querySelectorAll('.axis .tick')]
            .map((one) => [Number(one.textContent), Number(one.getAttribute('x'))])];
        """
    )
    (t0, x0), (t1, x1) = ticks[0], ticks[-1]
    pixels = (x1 - x0) / (t1 - t0)
    for boxes, lengths in ((terms, (6.25, 20.0, 5.0)), (bounds, (5.0, 15.0, 5.0))):
        assert [kind.split()[-1] for kind, _, _ in boxes] == ["work", "wait", "work"]
        assert [width for _, _, width in boxes] == [
            pytest.approx(length * pixels, abs=1.1) for length in lengths
        ]
        begins = [x0 + sum(lengths[:number]) * pixels for number in range(3)]
        assert [x for _, x, _ in boxes] == [pytest.approx(begin, abs=0.6) for begin in begins]
    assert texts == [
        "response of see",
        "until plan runs and reads the value",
        f"response of {EVIL}",
    ]


def test_a_chain_without_a_deadline_has_none_on_the_page(browser: Browser, tmp_path: Path) -> None:
    graph = (
        [Callback("control", "controller", 1_000_000, 3, (), (), period=5_000_000)],
        [Chain("loop", ("control",), 3, round(NO_DEADLINE_MS * 1e6))],
    )
    comparison = load_single_run(write_run(tmp_path / "run", seconds=0.5, graph=graph))
    path = tmp_path / "report.html"
    path.write_text(make_report(comparison, tmp_path / "run", path), encoding="utf-8")
    browser.open(path)
    assert browser.messages() == []
    assert "no deadline" in browser.run("return document.querySelector('.distribution').innerText")
    assert "no deadline" in browser.run("return document.querySelector('#figures').innerText")
    drawn = "return document.querySelectorAll('.distribution :is(.deadline, .late-zone)').length"
    assert browser.run(drawn) == 0
    last = "return [...document.querySelectorAll('.distribution .axis .tick')].at(-1).textContent"
    assert float(browser.run(last)) < 100  # an hour would stretch the axis
