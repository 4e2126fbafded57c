# SPDX-License-Identifier: Apache-2.0
"""The page of experiments in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rclrt_experiments.experiment import THESIS
from rclrt_py.testing import browser as chromium
from rclrt_py.testing.browser import EVIL, NARROW, WIDE, Browser, overlaps
from rclrt_py.testing.command import Command


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from chromium.start(tmp_path_factory.mktemp("profile"))


@pytest.fixture(scope="module")
def page(experiment: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "out"
    done = experiment("all", "--simulate", "--trials", 2, "--seconds", 2, "--out", out)
    assert done.returncode == 0, done.stderr
    return out / "report.html"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_it_draws_without_complaint_and_asks_the_network_for_nothing(
    browser: Browser, page: Path, width: int
) -> None:
    browser.load(page, width)
    assert browser.messages() == []
    assert browser.requests(page) == [page.as_uri()]
    assert browser.run("return document.documentElement.scrollWidth") == width
    drawn = browser.run(
        "return [...document.querySelectorAll('figure svg')].map((svg) => svg.clientWidth)"
    )
    assert len(drawn) >= len(THESIS)
    assert all(0 < each <= width for each in drawn)


def test_no_two_labels_overlap(browser: Browser, page: Path) -> None:
    browser.load(page)
    assert overlaps(browser) == []
    browser.run(
        "const text = document.querySelector('svg text');"
        "text.parentNode.append(text.cloneNode(true));"
    )
    assert len(overlaps(browser)) == 1


def test_names_of_a_file_are_text(
    browser: Browser, experiment: Command, small: Path, tmp_path: Path
) -> None:
    small.write_text(
        small.read_text()
        .replace("title: A small one", f'title: "{EVIL}"')
        .replace('label: "20 %"', f'label: "{EVIL}"')
    )
    done = experiment(small, "--simulate", "--trials", 1, "--seconds", 1, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    browser.load(tmp_path / "out" / "report.html")
    assert browser.messages() == []
    assert browser.run("return [document.scripts.length, document.images.length]") == [0, 0]
    assert browser.run("return window.hacked") is None
    assert EVIL in browser.run("return document.body.textContent")
