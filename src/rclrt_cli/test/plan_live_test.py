# SPDX-License-Identifier: Apache-2.0
"""`rclrt plan --live`: a page beside a robot that runs, vanishes and comes back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.browser import EVIL, Browser, overlaps, start
from rclrt_py.testing.command import Rclrt, command, environment
from rclrt_py.testing.plan_page import choose, hold, settled, text_of
from rclrt_py.testing.waiting import GENEROUS_S
from selenium.webdriver.common.keys import Keys
from sources import ROOT

EXAMPLE = ROOT / "examples" / "autonomous_vehicle" / "app.yaml"
BRAKE = "/control subscription /obstacle"
MAP = "/mapping subscription /map_request"

ROBOT = """
import json, os, sys
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

callbacks = json.loads(sys.argv[1])
rclpy.init()
node = rclpy.create_node("robot")
publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
count = 0

def status(name, message, values):
    level = DiagnosticStatus.WARN if values.get("missed") else DiagnosticStatus.OK
    texts = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(name=f"rclrt: {name}", level=level, message=message, values=texts)

def publish():
    global count
    count += 20
    own = {"period_ms": 50, "with_deadline": len(callbacks)}
    all = [status(f"process arm {os.getpid()}", "real time", own)]
    for name, values in callbacks.items():
        counters = {"priority": 5, "released": count, "completed": count}
        all.append(status(name, "", counters | values))
    publisher.publish(DiagnosticArray(status=all))

node.create_timer(0.05, publish)
rclpy.spin(node)
"""


def brake(**values: object) -> dict[str, Any]:
    """Returns the values of the last callback of the chain `obstacle`, which has a largest age."""
    return {"deadline_ms": "25.000", "limit_of": "age", "dropped": 0, "missed": 0, **values}


@contextmanager
def robot(directory: Path, callbacks: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", ROBOT, json.dumps(callbacks)], env=nearby(directory)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def nearby(directory: Path) -> dict[str, str]:
    return {
        **environment(),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(directory),
    }


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from start(tmp_path_factory.mktemp("profile"))


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    """The page of the example, of a command that listens."""
    pytest.importorskip("rclpy")
    app = tmp_path / "app.yaml"
    app.write_text(EXAMPLE.read_text())
    with subprocess.Popen(
        command("plan", app, "--live", "--no-browser"),
        env=nearby(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            browser.load(process.stdout.readline().strip())
            browser.wait("return document.body.classList.contains('ready')")
            yield browser
            assert browser.messages() == []
            browser.leave()  # the page would go on to ask the command
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=GENEROUS_S)
            assert (process.returncode, said) == (0, "")
        finally:
            process.kill()


def wait_for_text(page: Browser, selector: str, text: str) -> None:
    page.wait(
        f"const one = document.querySelector({json.dumps(selector)});"
        f"return one && one.textContent.includes({json.dumps(text)})"
    )


def test_a_robot_is_shown_vanishes_and_comes_back(page: Browser, tmp_path: Path) -> None:
    assert "Nothing is heard on /diagnostics yet" in text_of(page, "#robots")
    late = brake(
        missed=3, p99_ms="18.500", max_ms="30.250", worst_late_ms="5.250",
        most_in_the_way=MAP, in_the_way_ms="9.000",
    )  # fmt: skip
    strangers = {"/stranger timer 0": brake(), f"/{EVIL} timer 1": brake()}
    with robot(tmp_path, {BRAKE: late, **strangers}):
        wait_for_text(page, "[data-callback=brake]", "max 30.3, 3 missed")
        wait_for_text(page, "[data-robot]", "real time, 3 callbacks with a limit")
        assert page.run("return document.querySelector('.card.missed').dataset.callback") == "brake"
        # The chain has a sync: the stamp may be that of its other input.
        assert text_of(page, "tr.chain .seen") == "age 30.250"
        assert "3 of" in text_of(page, ".missed-list")
        assert "the worst 5.250 ms late; most in the way: build_map (" in text_of(page, "#robots")
        assert "not in this file: /<img" in text_of(page, "#unknown")
        assert "/stranger timer 0" in text_of(page, "#unknown")
        assert page.run("return window.hacked") is None
        choose(page, "brake")
        assert page.run("return document.querySelector('.card.cause').dataset.callback") == (
            "build_map"
        )
        assert "measured: age: p99 18.500 ms, maximum 30.250 ms, limit 25.000 ms" in text_of(
            page, "#observed-callback"
        )
        assert overlaps(page) == []
    wait_for_text(page, "[data-robot]", "it has ended, or its messages do not arrive")
    wait_for_text(page, "[data-callback=brake]", "silent, max 30.3")
    with robot(tmp_path, {BRAKE: brake(p99_ms="9.000", max_ms="12.000"), **strangers}):
        wait_for_text(page, "[data-callback=brake]", "p99 9, max 12")
        page.wait("return document.querySelectorAll('[data-robot]').length === 1")
        page.wait("return !document.querySelector('#robots').textContent.includes('silent')")
        assert page.run("return document.querySelectorAll('.card.missed').length") == 0
        assert text_of(page, "tr.chain .seen") == "age 12.000"


def test_what_is_typed_stays_while_new_times_come(page: Browser, tmp_path: Path) -> None:
    choose(page, "brake")
    field = page.driver.find_element("css selector", '#inspector input[data-field="wcet_ms"]')
    with robot(tmp_path, {BRAKE: brake(p99_ms="9.000", max_ms="12.000")}):
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("1.")
        wait_for_text(page, "[data-callback=brake]", "p99 9, max 12")
        before = page.run("return plan.state.observed.callbacks.brake.n")
        page.wait(f"return plan.state.observed.callbacks.brake.n > {before + 20}")
        field.send_keys("5", Keys.TAB)
        settled(page)
        found = "return model().callbacks.find((each) => each.id === 'brake').wcet_ms"
        assert page.run(found) == 1.5
        hold(page, "z", Keys.CONTROL)  # nothing is left to save


def test_without_ros_it_says_what_is_missing(
    rclrt: Rclrt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rclpy", None)
    monkeypatch.setitem(sys.modules, "rclpy.signals", None)
    answer = rclrt("plan", EXAMPLE, "--live", "--no-browser")
    assert answer.code == 2
    assert "`rclrt plan --live` needs rclpy and diagnostic_msgs" in answer.err
    assert "fix: source a ROS 2 installation" in answer.err


def test_options_that_do_not_go_together_are_refused(rclrt: Rclrt, tmp_path: Path) -> None:
    for options, said in (
        (("--live", "--results", tmp_path), "the page shows one of them"),
        (("--topic", "/d"), "--topic: is the topic of --live; add --live"),
    ):
        answer = rclrt("plan", EXAMPLE, *options, "--no-browser")
        assert answer.code == 2
        assert said in answer.err


def test_a_topic_that_is_none_is_refused(rclrt: Rclrt) -> None:
    pytest.importorskip("rclpy")
    answer = rclrt("plan", EXAMPLE, "--live", "--topic", "no topic", "--no-browser")
    assert answer.code == 2
    assert "--topic 'no topic' is no topic name" in answer.err
