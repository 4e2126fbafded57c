# SPDX-License-Identifier: Apache-2.0
"""A person at the page of `rclrt plan`, for tests in a browser."""

from __future__ import annotations

from typing import Any

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from rclrt_py.testing.browser import Browser
from rclrt_py.testing.plan_server import Plan


def show(browser: Browser, plan: Plan, width: int = 1280, dark: bool = False) -> None:
    browser.load(plan.server.address, width, dark)
    browser.wait("return document.body.classList.contains('ready')")


def settled(browser: Browser) -> None:
    """Waits until no request of the page is on its way."""
    browser.wait(
        "return !running && !waiting.length && !postponed"
        " && plan.jobs.every((job) => job.state !== 'runs')"
    )


def click(browser: Browser, selector: str) -> None:
    browser.wait(f"return document.querySelector({selector!r})")
    browser.driver.find_element(By.CSS_SELECTOR, selector).click()
    settled(browser)


def card(browser: Browser, callback: str) -> Any:
    return browser.driver.find_element(By.CSS_SELECTOR, f'.card[data-callback="{callback}"] .back')


def choose(browser: Browser, callback: str) -> None:
    """Clicks on the card of a callback, and waits until it is chosen."""
    ActionChains(browser.driver).click(card(browser, callback)).perform()
    browser.wait(f"return isSelected('callback', {callback!r})")


def fill(browser: Browser, field: str, text: str) -> None:
    """Types a text into a field of the form, and leaves it."""
    element = browser.driver.find_element(
        By.CSS_SELECTOR, f'#inspector input[data-field="{field}"]'
    )
    element.send_keys(Keys.CONTROL, "a")
    element.send_keys(text or Keys.DELETE, Keys.TAB)
    settled(browser)


def press(browser: Browser, *keys: str) -> None:
    ActionChains(browser.driver).send_keys(*keys).perform()
    settled(browser)


def hold(browser: Browser, key: str, *modifiers: str) -> None:
    actions = ActionChains(browser.driver)
    for each in modifiers:
        actions.key_down(each)
    actions.send_keys(key)
    for each in modifiers:
        actions.key_up(each)
    actions.perform()
    settled(browser)


def bounds(browser: Browser) -> dict[str, str]:
    """Returns the bound of each chain as the table shows it, without the difference."""
    return dict(
        browser.run(
            """
            return [...document.querySelectorAll('tr.chain')].map((row) =>
              [row.querySelector('.chain-name').textContent,
               row.querySelector('td.bound').firstChild.textContent]);
            """
        )
    )


def text_of(browser: Browser, selector: str) -> str:
    text: str = browser.run("return document.querySelector(arguments[0]).innerText", selector)
    return text


def bound_text(bound_ms: float | None) -> str:
    """Returns a bound as the table shows it. A chain may have none, as on a busy machine."""
    return "\N{EN DASH}" if bound_ms is None else f"{bound_ms:.3f}"


def analysed(plan: Plan, state: Any = None) -> dict[str, str]:
    """Returns the bound of each chain as the table should show it."""
    return {each["id"]: bound_text(each["bound_ms"]) for each in plan.chains(state)}


def drag(browser: Browser, callback: str, x: int, y: int) -> None:
    actions = ActionChains(browser.driver).click_and_hold(card(browser, callback))
    actions.move_by_offset(12, 4).perform()
    box = card(browser, callback).rect
    left, top = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    ActionChains(browser.driver).move_by_offset(int(x - left), int(y - top)).release().perform()
    settled(browser)


def centre(browser: Browser, selector: str) -> tuple[int, int]:
    x, y = browser.run(
        """
        const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
        """,
        selector,
    )
    return round(x), round(y)


def turn_round(browser: Browser, plan: Plan) -> None:
    plan.call("change", changes=plan.turned_round(), label="turned round")
    show(browser, plan)
