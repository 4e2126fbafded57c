# SPDX-License-Identifier: Apache-2.0
"""The model of a traced robot on the page of `rclrt plan`, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rclcpp_traces import RclcppTrace
from rclrt_py.testing.browser import Browser, start
from rclrt_py.testing.plan_page import analysed, bounds, choose, click, fill, show, text_of
from rclrt_py.testing.plan_server import opened
from traced_runs import EXAMPLES, rclrt

import rclrt_model


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from start(tmp_path_factory.mktemp("profile"))


def model_of(source: Path, file: Path) -> str:
    done = rclrt("model", source, "-o", file)
    assert done.returncode == 0, done.stderr
    assert f"rclrt plan {file}" in done.stdout
    return file.read_text()


def cards(browser: Browser) -> list[str]:
    shown = "return [...document.querySelectorAll('.card')].map((c) => c.dataset.callback)"
    return sorted(browser.run(shown))


def test_the_model_of_nodes_of_rclcpp_is_changed_on_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    trace = RclcppTrace()
    trace.node(1, "lidar")
    trace.node(2, "map")
    trace.timer(1, 1, 10)
    trace.timer(2, 2, 50)
    for number in range(1, 100):
        trace.run(0, 1, number * 10, number * 10 + 2)
        if number % 5 == 0:
            trace.run(0, 2, number * 10 + 2.1, number * 10 + 7)
    trace.save(tmp_path / "trace")
    text = model_of(tmp_path / "trace", tmp_path / "made.yaml")
    for plan in opened(tmp_path / "app.yaml", text):
        show(browser, plan)
        made = rclrt_model.load(plan.path)
        assert cards(browser) == sorted(each.id for each in made.callbacks)
        assert bounds(browser) == analysed(plan)
        lidar = made.callbacks[0].id
        choose(browser, lidar)
        fill(browser, "wcet_ms", "3.5")
        assert "start: 1.999" in text_of(browser, "#inspector .differs")
        plan.save()
        assert rclrt_model.load(plan.path).callbacks[0].wcet_ns == 3_500_000
        kept = [line for line in text.splitlines() if line.startswith("#")]
        assert [line for line in plan.path.read_text().splitlines() if line.startswith("#")] == kept
    assert browser.messages() == []


def test_the_model_of_a_run_gets_priorities_on_the_page_and_analyze_agrees(
    browser: Browser, tmp_path: Path
) -> None:
    app = EXAMPLES / "autonomous_vehicle" / "app.yaml"
    out = tmp_path / "out"
    done = rclrt("run", app, "--executor", "wait_set", "--seconds", "2", "--out", out)
    assert done.returncode in (0, 1), done.stderr
    text = model_of(out, tmp_path / "made.yaml")
    for plan in opened(tmp_path / "app.yaml", text):
        show(browser, plan)
        assert bounds(browser) == analysed(plan)
        click(browser, "[data-chain=obstacle]")
        fill(browser, "deadline_ms", "24")
        fill(browser, "priority", "9")
        click(browser, "[data-ask=simulate]")
        assert "obstacle" in text_of(browser, "[data-job=simulate]")
        plan.save()
        answer = rclrt("analyze", plan.path, "--json", "--no-search")
        assert json.loads(answer.stdout) == plan.call("state")["answer"]["analysis"]
    assert browser.messages() == []
