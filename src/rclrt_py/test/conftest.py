# SPDX-License-Identifier: Apache-2.0
"""The package under test is the one in the source tree beside this directory. Tests in a browser
share its start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rclrt_py.testing.comparisons import comparison, comparison_directory  # noqa: F401
from rclrt_py.testing.properties import let_properties_take_their_time

let_properties_take_their_time()

if TYPE_CHECKING:
    from rclrt_py.testing.browser import Browser
    from rclrt_py.testing.plan_server import Plan

EXAMPLE = Path(__file__).parents[3] / "examples" / "autonomous_vehicle" / "app.yaml"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from rclrt_py.testing import browser as chromium  # only these tests need Selenium

    yield from chromium.start(tmp_path_factory.mktemp("profile"))


@pytest.fixture
def plan(tmp_path: Path) -> Iterator[Plan]:
    """The example as `rclrt plan` serves it."""
    from rclrt_py.testing.plan_server import opened

    yield from opened(tmp_path / "app.yaml", EXAMPLE.read_text())


@pytest.fixture
def page(browser: Browser, plan: Plan) -> Iterator[Browser]:
    """The page of the example. Nothing that a test does may leave a message in the console."""
    from rclrt_py.testing.plan_page import show

    show(browser, plan)
    yield browser
    assert browser.messages() == []
