# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium from Debian, with one page open."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from rclrt_py.testing.waiting import GENEROUS_S

OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run --hide-scrollbars"
)
EVIL = "<img src=x onerror='window.hacked=1'>"
"""A name that a page must show as text and not execute."""
WIDE, NARROW = 1280, 390
LABELS = """
return [...document.querySelectorAll('svg')].map((svg) =>
  [...svg.querySelectorAll('text')].filter((text) => text.textContent.trim()).map((text) => {
    const box = text.getBoundingClientRect();
    return [text.textContent, box.left, box.top, box.right, box.bottom];
  }));
"""


class Browser:
    """One window; every page is opened at a width and in a colour scheme."""

    def __init__(self, chromium: str, driver: str, profile: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for option in (*OPTIONS.split(), f"--user-data-dir={profile}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))

    def open(self, page: Path, width: int = WIDE, dark: bool = False) -> None:
        """Opens a report of runs, and waits until its scripts have drawn it."""
        self.load(page, width, dark)
        self.wait("return document.querySelectorAll('.distribution svg').length > 0")
        self.wait("return document.querySelectorAll('#graph svg, .timeline svg').length > 1")

    def load(
        self, page: Path | str, width: int = WIDE, dark: bool = False, height: int = 900
    ) -> None:
        """Opens a file or an address, and waits for its first picture: Chromium drops clicks and
        keys that come before."""
        self.messages()
        self.requests()
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get(page if isinstance(page, str) else page.as_uri())
        self._wait_for_picture()

    def reload(self) -> None:
        """Loads the page again, and waits for its first picture."""
        self.driver.refresh()
        self._wait_for_picture()

    def leave(self) -> None:
        """Leaves the page for an empty one, which sends no requests and has no picture."""
        self.driver.get("about:blank")

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str) -> None:
        patient = WebDriverWait(self.driver, GENEROUS_S)
        patient.until(lambda driver: driver.execute_script(condition))

    def _wait_for_picture(self) -> None:
        self.wait("return performance.getEntriesByName('first-paint').length > 0")

    def _log(self, kind: str) -> list[dict[str, str]]:
        entries: list[dict[str, str]] = self.driver.get_log(kind)  # type: ignore[no-untyped-call]
        return entries

    def messages(self) -> list[str]:
        """Returns the console messages of pages (not the browser's own ones) since the last
        call."""
        said = [entry["message"] for entry in self._log("browser")]
        return [message for message in said if not message.startswith("chrome://")]

    def requests(self, page: Path | str | None = None) -> list[str]:
        """Returns the requests of the page (not the browser's own ones) since the last call."""
        address = page.as_uri() if isinstance(page, Path) else page
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
            and (address is None or event["params"]["documentURL"] == address)
        ]


def start(profile: Path) -> Iterator[Browser]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        if os.environ.get("CI"):
            pytest.fail("chromium and chromedriver are missing; make setup installs them")
        pytest.skip("needs chromium and chromedriver")
    browser = Browser(chromium, driver, profile)
    yield browser
    browser.driver.quit()


def overlaps(browser: Browser) -> list[tuple[str, str]]:
    """Returns the pairs of labels of one drawing that overlap by more than a hair."""
    found = []
    for labels in browser.run(LABELS):
        for (a, al, at, ar, ab), (b, bl, bt, br, bb) in itertools.combinations(labels, 2):
            if min(ar, br) - max(al, bl) > 1 and min(ab, bb) - max(at, bt) > 3:
                found.append((a, b))
    return found
