# SPDX-License-Identifier: Apache-2.0
"""Random use of the page of `rclrt plan`, and large applications on it.

RCLRT_PLAN_SECONDS=3600 uses the page for an hour, RCLRT_PLAN_SEED=N in another order."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.analyses.chains import sound
from rclrt_py.native import analysis
from rclrt_py.testing.browser import Browser
from rclrt_py.testing.plan_page import bound_text, bounds, click, press, settled, show, text_of
from rclrt_py.testing.plan_server import Plan, large, opened

from rclrt_model import load

EXAMPLES = Path(__file__).parents[3] / "examples"
SECONDS = float(os.environ.get("RCLRT_PLAN_SECONDS", "0"))
SEED = int(os.environ.get("RCLRT_PLAN_SEED", "1"))
STEPS = 60
"""Steps for each example if no time is set."""
COMPARED_EVERY = 20

USE = """
const [pick, number, word] = arguments;
const left = ['#save', '#diff', '#help', '#retry', '[data-ask]', '[data-write]', '#cancel'];
const all = [...document.querySelectorAll('#top button, #top select, #side button, #side select, ' +
  '#side input, .card, .executor, .graph-tools input, .graph-tools select, .graph-tools button')]
  .filter((one) => !one.disabled && !left.some((each) => one.matches(each)));
const one = all[Math.floor(pick * all.length)];
const tell = (name) => one.dispatchEvent(new Event(name, {bubbles: true}));
if (one.tagName === 'SELECT') {
  one.value = one.options[Math.floor(number * one.options.length)].value;
  tell('change');
} else if (one.type === 'range') {
  one.value = Number(one.min) + number * (Number(one.max) - Number(one.min));
  tell('input');
} else if (one.tagName === 'INPUT' && one.type !== 'checkbox') {
  one.value = word;
  tell('input');
  tell('change');
} else {
  one.dispatchEvent(new MouseEvent('click', {bubbles: true}));
}
return `${one.tagName} ${one.getAttribute('aria-label') || one.textContent || one.id}`;
"""
WORDS = ("", "1", "3", "7", "0.5", "12.345678", "-1", "1e3", "x", "<b>", "2, 3", "60", "group_a")


def agrees_with_the_file(browser: Browser, plan: Plan) -> None:
    """Checks that the page shows what an analysis of the file that it writes gives."""
    settled(browser)
    plan.save()
    state = plan.call("state")
    made = load(plan.path)
    result, _ = sound(made, state["executor"], analysis().StatedOverheads().machine(), search=False)
    assert result == state["answer"]["analysis"]
    shown = bounds(browser)
    for chain in result["chains"]:
        assert shown[chain["id"]] == bound_text(chain["bound_ms"])


@pytest.mark.parametrize("example", ["autonomous_vehicle", "eye_to_wheel"])
def test_random_use_leaves_no_error_and_the_page_agrees_with_the_file(
    browser: Browser, tmp_path: Path, example: str
) -> None:
    text = (EXAMPLES / example / "app.yaml").read_text()
    numbers = random.Random(SEED)
    end = time.monotonic() + SECONDS / 2
    for plan in opened(tmp_path / "app.yaml", text):
        show(browser, plan)
        step = 0
        while step < STEPS or time.monotonic() < end:
            step += 1
            used = browser.run(USE, numbers.random(), numbers.random(), numbers.choice(WORDS))
            settled(browser)
            wrong = [each for each in browser.messages() if "status of 422" not in each]
            assert wrong == [], used
            if step % COMPARED_EVERY == 0:
                agrees_with_the_file(browser, plan)
        assert browser.run("return window.hacked") is None


def cards(browser: Browser) -> Any:
    return browser.run("return document.querySelectorAll('.card').length")


def test_a_thousand_callbacks_are_grouped_searched_and_opened(
    browser: Browser, tmp_path: Path
) -> None:
    for plan in opened(tmp_path / "app.yaml", large(200)):
        show(browser, plan)
        assert text_of(browser, "#headline").startswith("✓")
        assert browser.run("return grouping()") == "namespaces"
        assert cards(browser) == 8
        press(browser, "/", "cb_7_3")
        dim = browser.run("return document.querySelectorAll('.card:not(.dim)').length")
        assert dim == 1  # the namespace of node_7
        browser.run("document.querySelector('.card:not(.dim)').dispatchEvent(new Event('click'))")
        assert cards(browser) == 7 + 125
        click(browser, "[data-chain='chain_7']")
        click(browser, "#isolate")
        assert cards(browser) == 5
        browser.run("set(['callbacks', 'cb_7_0', 'wcet_ms'], '1', 'x')")
        settled(browser)
        assert bounds(browser)["chain_7"] == f"{plan.chains()[7]['bound_ms']:.3f}"
        assert browser.messages() == []
