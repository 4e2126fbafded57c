# SPDX-License-Identifier: Apache-2.0
"""The cards of the page of `rclrt plan`: groups, search, and chains that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.browser import Browser, overlaps
from rclrt_py.testing.plan_page import centre, click, press, settled, show, text_of
from rclrt_py.testing.plan_server import Plan, large, opened
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from rclrt_model import load

EXAMPLES = Path(__file__).parents[3] / "examples"
TOLD_APART = 28
"""Chains with a colour and a pattern of their own: seven colours, four patterns."""


def styles(browser: Browser, selector: str, *properties: str) -> set[tuple[str, ...]]:
    """Returns the different styles of elements."""
    found = browser.run(
        "return [...document.querySelectorAll(arguments[0])].map((one) =>"
        " arguments[1].map((name) => getComputedStyle(one).getPropertyValue(name)))",
        selector,
        list(properties),
    )
    return {tuple(each) for each in found}


@pytest.mark.parametrize("dark", [False, True])
def test_more_chains_than_colours_can_be_told_apart(
    browser: Browser, tmp_path: Path, dark: bool
) -> None:
    for plan in opened(tmp_path / "app.yaml", large(TOLD_APART)):
        show(browser, plan, dark=dark)
        assert browser.run("return grouping()") == "callbacks"
        assert len(styles(browser, "path.strand", "stroke", "stroke-dasharray")) == TOLD_APART
        assert len(styles(browser, ".stripe", "stroke", "stroke-dasharray")) == TOLD_APART
        swatches = styles(browser, ".chain-name .swatch", "background-color", "background-image")
        assert len(swatches) == TOLD_APART
        assert overlaps(browser) == []
    assert browser.messages() == []


def test_few_chains_have_plain_lines_and_variables_hollow_arrows(
    browser: Browser, tmp_path: Path
) -> None:
    for plan in opened(tmp_path / "app.yaml", (EXAMPLES / "eye_to_wheel" / "app.yaml").read_text()):
        show(browser, plan)
        assert styles(browser, ".edge.topic .strand", "stroke-dasharray") == {("none",)}
        assert styles(browser, ".edge.variable .strand", "stroke-dasharray") == {("6px, 4px",)}
        fills = styles(browser, ".edge.variable .arrow", "fill")
        assert not fills & styles(browser, ".edge.topic .arrow", "fill")


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("seen", ["plan", "see"]),  # a variable
        ("followed", ["control", "follow"]),
        ("loop", ["actuate", "control"]),  # a chain
        ("EYE_TO", ["actuate", "control", "detect", "follow", "image", "plan", "see"]),
        ("frames", ["detect", "image"]),
        ("nothing", []),
    ],
)
def test_variables_and_chains_are_found(
    browser: Browser, tmp_path: Path, text: str, cards: list[str]
) -> None:
    for plan in opened(tmp_path / "app.yaml", (EXAMPLES / "eye_to_wheel" / "app.yaml").read_text()):
        show(browser, plan)
        press(browser, "/", text)
        found = browser.run(
            "return [...document.querySelectorAll('.card:not(.dim)')]"
            ".map((each) => each.dataset.callback)"
        )
        assert sorted(found) == cards


def test_the_lines_of_an_edge_are_named(browser: Browser, tmp_path: Path) -> None:
    for plan in opened(tmp_path / "app.yaml", large(20)):
        show(browser, plan)
        arrow = browser.driver.find_element(
            By.CSS_SELECTOR, '[data-edge="c:cb_9_0>c:cb_9_1"] .arrow'
        )
        ActionChains(browser.driver).move_to_element(arrow).perform()
        browser.wait("return !document.getElementById('tooltip').hidden")
        assert "chain: chain_9" in text_of(browser, "#tooltip")


def executors_of(plan: Plan, name_space: str) -> set[str]:
    """Returns the executors of the callbacks of a namespace, in the file."""
    plan.save()
    made = load(plan.path)
    return {
        made.executors[made.executor_of(index)].name
        for index, callback in enumerate(made.callbacks)
        if made.nodes[callback.node].name_space == name_space
    }


def choose_executor(browser: Browser, *keys: Any) -> None:
    """Chooses in the list that has the focus by keys alone."""
    ActionChains(browser.driver).send_keys(*keys).perform()
    settled(browser)


def test_a_group_is_moved_to_another_executor_and_to_a_new_one_by_keys(
    browser: Browser, tmp_path: Path
) -> None:
    for plan in opened(tmp_path / "app.yaml", large(200)):
        show(browser, plan)
        assert executors_of(plan, "/area_3") == {"exec_1"}
        browser.run("document.querySelector('[data-group=\"/area_3\"]').focus()")
        press(browser, "e")
        assert "/area_3" in text_of(browser, "#inspector h2")
        assert browser.run("return document.activeElement.dataset.field") == "executor"
        choose_executor(browser, Keys.DOWN)
        assert executors_of(plan, "/area_3") == {"exec_2"}
        assert "125 callbacks" in text_of(browser, "#inspector")
        browser.wait("return document.activeElement.dataset.field === 'executor'")
        choose_executor(browser, Keys.END)
        assert executors_of(plan, "/area_3") == {"executor_5"}
        press(browser, Keys.ESCAPE)
        ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
        assert browser.run("return plan.selected") is None
    assert browser.messages() == []


def test_a_group_is_opened_by_a_key_and_by_its_button(browser: Browser, tmp_path: Path) -> None:
    for plan in opened(tmp_path / "app.yaml", large(200)):
        show(browser, plan)
        before = browser.run("return document.querySelectorAll('.card').length")
        browser.run("document.querySelector('[data-group=\"/area_3\"]').focus()")
        press(browser, "e")
        click(browser, "#open-group")
        opened_once = browser.run("return document.querySelectorAll('.card').length")
        assert opened_once == before - 1 + 125
        browser.run("document.querySelector('[data-group=\"/area_4\"]').focus()")
        press(browser, Keys.ENTER)
        assert browser.run("return document.querySelectorAll('.card').length") == (
            opened_once - 1 + 125
        )


def test_a_group_is_dragged(browser: Browser, tmp_path: Path) -> None:
    for plan in opened(tmp_path / "app.yaml", large(200)):
        show(browser, plan)
        x, y = centre(browser, '[data-executor="exec_3"] > rect')
        card = browser.driver.find_element(By.CSS_SELECTOR, '[data-group="/area_0"] .back')
        left, top = centre(browser, '[data-group="/area_0"] .back')
        actions = ActionChains(browser.driver).click_and_hold(card).move_by_offset(12, 4)
        actions.move_by_offset(x - left - 12, y - top - 4).release().perform()
        settled(browser)
        assert executors_of(plan, "/area_0") == {"exec_3"}


def test_a_key_for_a_field_selects_the_card_that_has_the_focus(page: Browser) -> None:
    page.run("document.querySelector('[data-callback=scan]').focus()")
    press(page, "w")
    assert page.run("return plan.selected.id") == "scan"
    assert page.run("return document.activeElement.dataset.field") == "wcet_ms"
