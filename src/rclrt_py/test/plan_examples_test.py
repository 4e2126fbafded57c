# SPDX-License-Identifier: Apache-2.0
"""`rclrt plan` without a file: the page offers examples, and writes none of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.plan import examples as module
from rclrt_py.plan.examples import examples, is_bundled
from rclrt_py.plan.written import Output
from rclrt_py.testing.browser import Browser, overlaps
from rclrt_py.testing.plan_page import (
    analysed,
    bounds,
    choose,
    click,
    fill,
    hold,
    settled,
    show,
    text_of,
)
from rclrt_py.testing.plan_server import Plan, offered
from rclrt_py.testing.waiting import wait_for
from selenium.webdriver.common.keys import Keys

from rclrt_model import load

ROOT = Path(__file__).parents[3]
CAR = "[data-example=autonomous_vehicle]"


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    """Examples as an installed package has them."""
    bundle = tmp_path / "bundle"
    for path in sorted((ROOT / "examples").glob("*/app.yaml")):
        (bundle / path.parent.name).mkdir(parents=True)
        shutil.copy(path, bundle / path.parent.name)
    return sorted(bundle.glob("*/app.yaml"))


@pytest.fixture
def offer(copies: list[Path]) -> Iterator[Plan]:
    yield from offered(copies)


def contents(paths: list[Path]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def test_the_examples_are_those_of_the_package_or_else_of_the_checkout(
    copies: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUNDLED", copies[0].parents[1])
    monkeypatch.setenv("RCLRT_ROOT", str(ROOT))
    assert examples() == copies
    assert is_bundled(copies[0])
    assert not is_bundled(ROOT / "examples/fig_5_4/app.yaml")
    monkeypatch.setattr(module, "BUNDLED", ROOT / "none")
    assert examples() == sorted((ROOT / "examples").glob("*/app.yaml"))
    monkeypatch.delenv("RCLRT_ROOT")
    assert examples() == []


def test_the_server_opens_an_example_and_refuses_what_needs_one_before(offer: Plan) -> None:
    state = offer.call("state")
    assert "answer" not in state
    cars = next(each for each in state["examples"] if each["name"] == "autonomous_vehicle")
    made = load(ROOT / "examples/autonomous_vehicle/app.yaml")
    assert (cars["callbacks"], cars["chains"], cars["executors"]) == (len(made.callbacks), 4, 1)
    assert cars["description"] == made.description
    for method in ("change", "save", "outcome", "job", "observed", "page", "download", "go"):
        with pytest.raises(BadInput, match="no application is open; choose one of the examples"):
            offer.call(method, base=1, step=1, what="app", seen="", kind="simulate")
    with pytest.raises(BadInput, match=r"there is no example '\.\./fig_5_4'"):
        offer.call("open", example="../fig_5_4")
    state = offer.call("open", example="autonomous_vehicle")
    assert offer.chains(state)[0]["bound_ms"] == 16.0
    assert state["outputs"] == []


def test_every_example_opens(offer: Plan) -> None:
    version = 0
    for each in offer.call("examples")["examples"]:
        state = offer.call("open", example=each["name"], base=version)
        assert state["answer"]["model"]["name"] == each["name"]
        assert each["description"], each["name"]
        assert len(state["answer"]["model"]["callbacks"]) == each["callbacks"]
        version = state["version"]


def test_a_page_of_an_earlier_example_changes_nothing_in_the_next_one(offer: Plan) -> None:
    first = offer.call("open", example="fig_5_5")
    second = offer.call("open", example="fig_5_6", base=first["version"])
    assert second["version"] > first["version"]
    with pytest.raises(BadInput, match="another page has changed the application"):
        offer.call("open", example="fig_5_4", base=first["version"])
    with pytest.raises(BadInput, match="another page has changed the application"):
        offer.call("reset", base=first["version"])
    assert offer.call("state")["answer"]["model"]["name"] == "fig_5_6"


def test_an_application_that_was_named_has_no_examples_beside_it(plan: Plan) -> None:
    assert plan.call("state")["offers"] is False
    for method in ("open", "examples"):
        with pytest.raises(BadInput, match="if the command is started without APP"):
            plan.call(method, example="fig_5_4", base=1)


@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_shows_the_examples_and_opens_the_one_that_is_chosen(
    browser: Browser, offer: Plan, width: int, dark: bool
) -> None:
    show(browser, offer, width, dark)
    names = browser.run(
        "return [...document.querySelectorAll('[data-example]')].map((b) => b.dataset.example)"
    )
    assert names == [each["name"] for each in offer.call("state")["examples"]]
    assert "Lidar and camera are fused" in text_of(browser, CAR)
    assert browser.run("return document.documentElement.scrollWidth") == width
    click(browser, CAR)
    assert bounds(browser) == analysed(offer)
    assert "all 4 deadlines hold" in text_of(browser, "#headline")
    assert browser.run("return document.getElementById('chooser')") is None
    assert overlaps(browser) == []
    assert browser.messages() == []


def test_a_changed_example_is_downloaded_and_no_file_is_written(
    browser: Browser, offer: Plan, copies: list[Path], tmp_path: Path
) -> None:
    before = contents(copies)
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    browser.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}
    )
    show(browser, offer)
    click(browser, CAR)
    choose(browser, "scan")
    fill(browser, "wcet_ms", "1.25")
    hold(browser, "s", Keys.CONTROL)
    browser.wait("return document.querySelector('#save-dialog')")
    assert "--out FILE" in text_of(browser, "#downloads")
    assert browser.run("return document.querySelectorAll('[data-write]').length") == 0
    assert browser.run("return document.getElementById('dirty') !== null")
    click(browser, "[data-download=app]")
    file = downloads / "autonomous_vehicle.yaml"
    wait_for(file.is_file)
    scan = next(each for each in load(file).callbacks if each.id == "scan")
    assert scan.wcet_ns == 1_250_000
    assert browser.run("return document.getElementById('dirty')") is None
    click(browser, "[data-download=priorities]")
    wait_for((downloads / "autonomous_vehicle-priorities.yaml").is_file)
    assert load(file, downloads / "autonomous_vehicle-priorities.yaml").name == "autonomous_vehicle"
    assert contents(copies) == before
    assert sorted(tmp_path.iterdir()) == [tmp_path / "bundle", downloads]
    assert browser.messages() == []


def test_an_example_is_written_to_the_file_that_the_command_names(
    browser: Browser, copies: list[Path], tmp_path: Path
) -> None:
    before = contents(copies)
    file = tmp_path / "mine.yaml"
    for plan in offered(copies, outputs=[Output("app", file)]):
        show(browser, plan)
        click(browser, CAR)
        choose(browser, "scan")
        fill(browser, "wcet_ms", "1.25")
        click(browser, "#save")
        click(browser, "[data-write=app]")
        browser.wait("return document.querySelector('#save-dialog .good')")
        assert "wcet_ms: 1.25" in file.read_text()
        assert contents(copies) == before
    assert browser.messages() == []


def test_another_example_takes_the_place_of_the_first_one_after_a_warning(
    browser: Browser, offer: Plan
) -> None:
    show(browser, offer)
    click(browser, CAR)
    click(browser, "[data-chain=obstacle]")
    fill(browser, "priority", "7")
    click(browser, "#examples")
    browser.wait("return document.querySelector('#examples-dialog')")
    assert "not saved" in text_of(browser, "#examples-dialog .wrong")
    click(browser, "#examples-dialog [data-example=fig_5_5]")
    assert text_of(browser, "#top h1") == "fig_5_5"
    assert browser.run("return plan.selected") is None
    assert bounds(browser) == analysed(offer)
    browser.reload()
    browser.wait("return document.body.classList.contains('ready')")
    settled(browser)
    assert text_of(browser, "#top h1") == "fig_5_5"
    assert browser.run("return document.title").startswith("fig_5_5")
    assert browser.messages() == []
