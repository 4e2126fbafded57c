# SPDX-License-Identifier: Apache-2.0
"""The page of `rclrt plan` in a real browser: its graph, its answer, and changes by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.browser import EVIL, Browser, overlaps
from rclrt_py.testing.plan_page import (
    analysed,
    bounds,
    centre,
    choose,
    click,
    drag,
    fill,
    hold,
    press,
    settled,
    show,
    text_of,
)
from rclrt_py.testing.plan_server import Plan
from rclrt_py.testing.waiting import wait_for
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from rclrt_model import Subscription, Sync, Timer, load

EXAMPLE = Path(__file__).parents[3] / "examples" / "autonomous_vehicle" / "app.yaml"
WIDTHS = (1280, 1920)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_it_shows_the_application_and_asks_only_its_own_server(
    browser: Browser, plan: Plan, width: int, dark: bool
) -> None:
    show(browser, plan, width, dark)
    assert browser.messages() == []
    address = plan.server.address
    assert browser.requests(address) == [address, f"{address}state"]
    cards = browser.run(
        "return [...document.querySelectorAll('.card')].map((c) => c.dataset.callback)"
    )
    assert sorted(cards) == sorted(callback.id for callback in load(plan.path).callbacks)
    assert bounds(browser) == analysed(plan)
    assert "all 4 deadlines hold" in text_of(browser, "#headline")
    assert browser.run("return document.documentElement.scrollWidth") == width
    assert overlaps(browser) == []


def test_a_field_changes_a_value_and_the_answer_follows(page: Browser, plan: Plan) -> None:
    before = bounds(page)
    choose(page, "scan")
    fill(page, "priority", "0")
    state = plan.call("state")
    assert bounds(page) == analysed(plan, state) != before
    assert "deadlines hold" in text_of(page, "#headline")
    assert text_of(page, "#live") == text_of(page, "#headline strong")  # for screen readers
    assert "▲" in text_of(page, "tr.chain .delta")
    assert "start: " in text_of(page, "#inspector .differs")
    assert page.run("return document.querySelectorAll('.card.changed').length") == 1
    hold(page, "z", Keys.CONTROL)
    assert bounds(page) == before
    hold(page, "z", Keys.CONTROL, Keys.SHIFT)
    assert bounds(page) == analysed(plan, state)
    click(page, "#inspector .back")
    assert bounds(page) == before


def executor_is_chosen(page: Browser) -> bool:
    """Clicks on an executor. The graph may be drawn anew between the press and the release."""
    page.driver.find_element(By.CSS_SELECTOR, ".executor text").click()
    return bool(page.driver.find_elements(By.CSS_SELECTOR, '#inspector [data-field="cpus"]'))


def test_every_field_of_every_part_can_be_changed(page: Browser, plan: Plan) -> None:
    for callback, fields in (
        ("scan", {"wcet_ms": "1.5", "period_ms": "25", "offset_ms": "", "deadline_ms": "20"}),
        ("brake", {"depth": "3", "group": "", "priority": "7", "waits_ms": "0.5"}),
        ("fuse", {"window_ms": "20"}),
    ):
        choose(page, callback)
        for field, value in fields.items():
            fill(page, field, value)
    click(page, '[data-chain="planning"]')
    fill(page, "deadline_ms", "33.5")
    fill(page, "priority", "5")
    wait_for(lambda: executor_is_chosen(page))
    fill(page, "cpus", "2, 3")
    fill(page, "top_priority", "80")
    plan.save()
    made = load(plan.path)
    scan, brake, fuse = (
        next(each for each in made.callbacks if each.id == name)
        for name in ("scan", "brake", "fuse")
    )
    assert isinstance(scan.trigger, Timer)
    assert isinstance(brake.trigger, Subscription)
    assert isinstance(fuse.trigger, Sync)
    assert (scan.wcet_ns, scan.deadline_ns) == (1_500_000, 20_000_000)
    assert scan.trigger.period_ns == 25_000_000
    assert (brake.trigger.depth, brake.group, brake.priority) == (3, None, 7)
    assert brake.waits_ns == 500_000
    assert fuse.trigger.window_ns == 20_000_000
    planning = next(each for each in made.chains if each.id == "planning")
    assert (planning.deadline_ns, planning.priority) == (33_500_000, 5)
    assert (made.executors[0].cpus, made.executors[0].top_priority) == ((2, 3), 80)


def test_a_slider_answers_while_it_moves_and_is_one_step_to_undo(page: Browser, plan: Plan) -> None:
    choose(page, "identify")
    slider = page.driver.find_element(By.CSS_SELECTOR, '[aria-label="identify: WCET, slider"]')
    actions = ActionChains(page.driver).click_and_hold(slider)
    for _ in range(5):
        actions = actions.move_by_offset(8, 0)
    actions.perform()
    settled(page)
    moved = plan.call("state")
    assert bounds(page) == analysed(plan, moved)
    ActionChains(page.driver).release().perform()
    settled(page)
    assert moved["labels"][-1] == "WCET of identify"
    assert len(moved["labels"]) <= 2  # the press moves it, and the slide is one more
    assert bounds(page) == analysed(plan)


def test_a_wrong_value_is_explained_and_the_old_one_comes_back(page: Browser, plan: Plan) -> None:
    choose(page, "scan")
    fill(page, "wcet_ms", "-3")
    assert "wcet_ms is" in text_of(page, "#message")
    assert page.run("return document.querySelector('[data-field=wcet_ms]').value") == "1"
    fill(page, "group", EVIL)
    assert "group" in text_of(page, "#message")
    assert page.run("return window.hacked") is None
    assert plan.call("state")["position"] == 0
    assert any("status of 422" in each for each in page.messages())  # Chromium's own words


def test_a_callback_is_dragged_to_a_new_executor_and_back(page: Browser, plan: Plan) -> None:
    area = page.run(
        "const box = document.getElementById('graph').getBoundingClientRect();"
        "return [box.right - 60, box.bottom - 40];"
    )
    drag(page, "build_map", *area)
    assert "executor_2" in page.run(
        "return document.querySelector('[data-executor=executor_2]').textContent"
    )
    plan.save()
    made = load(plan.path)
    index = next(i for i, each in enumerate(made.callbacks) if each.id == "build_map")
    assert made.executors[made.executor_of(index)].name == "executor_2"
    assert made.executors[1].cpus == (2,)
    assert bounds(page) == analysed(plan)
    assert overlaps(page) == []
    x, y = centre(page, '[data-executor="main"] > rect')
    drag(page, "build_map", x, y)
    plan.save()
    made = load(plan.path)
    assert made.executors[made.executor_of(index)].name == "main"


def test_the_executor_of_a_callback_can_be_chosen_in_the_form(page: Browser, plan: Plan) -> None:
    choose(page, "write_log")
    page.run(
        """
        const choice = document.querySelector('select[data-field="executor"]');
        choice.value = 'new';
        choice.dispatchEvent(new Event('change'));
        """
    )
    settled(page)
    names = [each["name"] for each in plan.call("state")["answer"]["model"]["executors"]]
    assert names == ["main", "executor_2"]
    assert "start: main" in text_of(page, "#inspector")


def test_another_kind_of_executor_gives_other_bounds(page: Browser, plan: Plan) -> None:
    page.run(
        """
        const choice = document.getElementById('executor');
        choice.value = 'events';
        choice.dispatchEvent(new Event('change'));
        """
    )
    settled(page)
    assert plan.call("state")["executor"] == "events"
    page.wait("return document.getElementById('executor').value === 'events'")


def test_everything_can_be_done_with_keys(page: Browser, plan: Plan) -> None:
    press(page, "/")
    press(page, "brake")
    shown = page.run("return document.querySelectorAll('.card:not(.dim)').length")
    assert shown == 1
    press(page, Keys.CONTROL + "a" + Keys.NULL, Keys.DELETE, Keys.ESCAPE)
    press(page, Keys.ARROW_RIGHT)
    first = page.run("return document.activeElement.dataset.callback")
    press(page, Keys.ARROW_RIGHT, Keys.ENTER)
    chosen = page.run("return plan.selected.id")
    assert chosen != first
    press(page, "w")
    press(page, "3", Keys.ENTER)
    assert callback(plan, chosen)["wcet_ms"] == 3
    press(page, Keys.ESCAPE, Keys.ESCAPE, "?")
    assert "undo, redo" in text_of(page, "#help-dialog")
    press(page, Keys.ESCAPE)
    page.run("select('chain', 'planning')")
    press(page, "f")
    cards = page.run("return document.querySelectorAll('.card').length")
    assert cards == 5
    press(page, Keys.ESCAPE)
    assert page.run("return document.querySelectorAll('.card').length") == 13


def callback(plan: Plan, name: str) -> Any:
    found = plan.call("state")["answer"]["model"]["callbacks"]
    return next(each for each in found if each["id"] == name)


def test_every_control_has_a_name(page: Browser) -> None:
    page.run("select('callback', 'scan')")
    nameless = page.run(
        """
        const all = [...document.querySelectorAll('button, input, select, [role=button]')];
        return all.filter((one) => !one.getAttribute('aria-label') && !one.textContent.trim())
          .filter((one) => !one.closest('label')).map((one) => one.outerHTML);
        """
    )
    assert nameless == []


def test_a_click_that_lasts_is_not_lost_when_an_answer_comes_meanwhile(
    page: Browser, plan: Plan
) -> None:
    choose(page, "scan")
    field = page.driver.find_element(By.CSS_SELECTOR, '#inspector input[data-field="wcet_ms"]')
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("1.5")
    button = page.driver.find_element(By.CSS_SELECTOR, '[data-chain="planning"]')
    ActionChains(page.driver).click_and_hold(button).perform()  # leaves the field
    page.wait("return !running && postponed && plan.state.position === 1")
    ActionChains(page.driver).release().perform()
    settled(page)
    assert page.run("return plan.selected.id") == "planning"
    assert callback(plan, "scan")["wcet_ms"] == 1.5


def test_a_text_that_is_typed_while_an_answer_comes_is_kept(page: Browser, plan: Plan) -> None:
    choose(page, "scan")
    field = page.driver.find_element(By.CSS_SELECTOR, '#inspector input[data-field="wcet_ms"]')
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("2")
    page.run("set(['callbacks', 'brake', 'wcet_ms'], '3', 'x')")
    page.wait("return !running && plan.state.position === 1")
    assert callback(plan, "brake")["wcet_ms"] == 3
    field.send_keys("5", Keys.TAB)
    settled(page)
    assert callback(plan, "scan")["wcet_ms"] == 25


def test_quick_changes_and_undos_are_all_made(page: Browser, plan: Plan) -> None:
    page.run(
        """
        const path = ['callbacks', 'scan', 'priority'];
        for (const value of ['1', '2', '3', '4']) set(path, value, value);
        undo();
        undo();
        redo();
        request('variant', {do: 'keep', name: 'third'});
        """
    )
    settled(page)
    state = plan.call("state")
    assert (state["position"], state["labels"]) == (3, ["1", "2", "3", "4"])
    assert callback(plan, "scan")["priority"] == 3
    assert state["variants"][0]["current"] is True


def test_the_start_of_every_changed_field_comes_back(page: Browser, plan: Plan) -> None:
    wait_for(lambda: executor_is_chosen(page))
    fill(page, "cpus", "2, 3")
    click(page, "#inspector .back")
    choose(page, "brake")
    fill(page, "group", "")
    click(page, "#inspector .back")
    assert plan.call("state")["answer"] == plan.call("state")["start"]


def test_a_second_page_shows_what_the_first_has_changed(page: Browser, plan: Plan) -> None:
    plan.call("change", changes=[plan.set(["callbacks", "scan", "wcet_ms"], "3")], label="x")
    choose(page, "scan")
    fill(page, "wcet_ms", "7")
    assert "another page has changed the application" in text_of(page, "#message")
    assert page.run("return document.querySelector('[data-field=wcet_ms]').value") == "3"
    assert any("status of 409" in each for each in page.messages())  # Chromium's own words


CONTRAST = """
const luminance = (colour) => {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const behind = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    const parts = colour.match(/[\\d.]+/g);
    if (colour.startsWith('rgb') && !(parts.length === 4 && Number(parts[3]) < 0.5)) return colour;
  }
  return 'rgb(255, 255, 255)';
};
const texts = [...document.querySelectorAll('#top *, #side *, .graph-tools *')].filter((one) =>
  one instanceof HTMLElement && !one.disabled && one.firstChild &&
  one.firstChild.nodeType === Node.TEXT_NODE && one.textContent.trim());
return texts.map((one) => {
  const [a, b] = [getComputedStyle(one).color, behind(one)].map(luminance);
  return [one.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
});
"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_legible_and_no_verdict_is_a_colour_alone(
    browser: Browser, plan: Plan, dark: bool
) -> None:
    plan.call("change", changes=plan.turned_round(), label="turned round")
    show(browser, plan, dark=dark)
    click(browser, '[data-chain="obstacle"]')
    ratios = browser.run(CONTRAST)
    assert len(ratios) > 60
    assert [each for each in ratios if each[1] < 4.5] == []  # WCAG 2.1, level AA
    verdicts = browser.run(
        "return [...document.querySelectorAll('.verdict')].map((v) => v.innerText)"
    )
    assert verdicts == ["?not proved", "?not proved", "◐conditional", "◐conditional"]
