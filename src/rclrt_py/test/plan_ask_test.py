# SPDX-License-Identifier: Apache-2.0
"""The page of `rclrt plan` in a real browser: questions, variants, files, and a lost server."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path

import pytest
from rclrt_py.comparisons.comparison import load_single_run
from rclrt_py.plan.observed import observed
from rclrt_py.runs.output_directory import MARKER, STAGING
from rclrt_py.testing.browser import EVIL, Browser
from rclrt_py.testing.plan_page import (
    analysed,
    bounds,
    choose,
    click,
    fill,
    hold,
    press,
    settled,
    show,
    text_of,
    turn_round,
)
from rclrt_py.testing.plan_server import Plan, opened
from rclrt_py.testing.synthetic_run import write_run
from rclrt_py.testing.waiting import wait_for
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

EXAMPLE = Path(__file__).parents[3] / "examples" / "autonomous_vehicle" / "app.yaml"
TIMES = "\N{MULTIPLICATION SIGN}"


def test_variants_stand_side_by_side(page: Browser, plan: Plan) -> None:
    click(page, "#keep")
    choose(page, "scan")
    fill(page, "wcet_ms", "9")
    name = page.driver.find_element(By.ID, "variant-name")
    name.send_keys(EVIL, Keys.ENTER)
    settled(page)
    heads = page.run(
        "return [...document.querySelectorAll('table.variants thead th')].map((h) => h.innerText)"
    )
    assert heads == ["", "start", f"variant 1{TIMES}", f"{EVIL}{TIMES}", "now"]
    assert page.run("return document.querySelectorAll('img').length") == 0
    page.driver.find_element(By.XPATH, "//table[@class='variants']//button[.='variant 1']").click()
    settled(page)
    assert bounds(page)["obstacle"] == "16.000"


def test_the_file_is_saved_after_its_differences_were_shown(page: Browser, plan: Plan) -> None:
    before = plan.path.read_text()
    choose(page, "scan")
    fill(page, "wcet_ms", "1.25")
    assert page.run("return document.getElementById('dirty') !== null")
    hold(page, "s", Keys.CONTROL)
    page.wait("return document.querySelector('#save-dialog [data-write=app]')")
    assert text_of(page, "#save-dialog pre .added").startswith("+++")
    assert "wcet_ms: 1.25" in text_of(page, "#save-dialog pre")
    assert plan.path.read_text() == before
    page.driver.find_element(By.CSS_SELECTOR, "[data-write=app]").click()
    page.wait("return document.querySelector('#save-dialog .good')")
    expected = before.replace("offset_ms: 0}, wcet_ms: 1,", "offset_ms: 0}, wcet_ms: 1.25,", 1)
    assert plan.path.read_text() == expected
    press(page, Keys.ESCAPE)
    assert page.run("return document.getElementById('dirty')") is None


def test_the_steps_of_the_how_to_page_lead_where_it_says(page: Browser, plan: Plan) -> None:
    # docs/how-to/plan.md
    turn_round(page, plan)
    assert "2 of 4 deadlines hold" in text_of(page, "#headline")
    click(page, '[data-chain="obstacle"]')
    assert bounds(page)["obstacle"] == "86.000"
    assert "preempted by log_tick\n31 ms" in text_of(page, "ol.parts")
    assert "preempted by map_tick\n17 ms" in text_of(page, "ol.parts")
    fill(page, "priority", "5")
    assert bounds(page)["obstacle"] == "86.000"
    assert "its own work: 2 \N{MULTIPLICATION SIGN} capture" in text_of(page, "ol.parts")
    click(page, '[data-chain="planning"]')
    fill(page, "priority", "4")
    assert "all 4 deadlines hold" in text_of(page, "#headline")
    assert [bounds(page)[chain] for chain in ("obstacle", "planning")] == ["19.000", "19.000"]


def test_found_priorities_are_taken_and_all_deadlines_hold(page: Browser, plan: Plan) -> None:
    turn_round(page, plan)
    assert "2 of 4 deadlines hold" in text_of(page, "#headline")
    click(page, '[data-ask="synthesize"]')
    assert "4 of 4 chains hold with them" in text_of(page, '[data-job="synthesize"]')
    click(page, '[data-take="synthesize"]')
    assert "all 4 deadlines hold" in text_of(page, "#headline")
    assert bounds(page) == analysed(plan)


def test_a_proposal_is_left(page: Browser, plan: Plan) -> None:
    turn_round(page, plan)
    before = bounds(page)
    click(page, '[data-ask="assign"]')
    click(page, '[data-leave="assign"]')
    assert bounds(page) == before
    assert page.run("return document.querySelectorAll('.job').length") == 0


def test_a_miss_is_found_and_shown_on_the_timeline(page: Browser, plan: Plan) -> None:
    turn_round(page, plan)
    click(page, '[data-ask="find_miss"]')
    assert "misses its deadline" in text_of(page, '[data-job="find_miss"]')
    page.wait("return document.querySelectorAll('#drawer .slice').length > 4")
    assert "counter-example of" in text_of(page, "#window")
    assert page.run("return document.querySelectorAll('#drawer .late-fill').length") > 0
    choose(page, "scan")
    fill(page, "wcet_ms", "0.5")
    assert "an earlier version" in text_of(page, "#drawer")


def test_margins_are_shown_and_one_is_taken(page: Browser, plan: Plan) -> None:
    click(page, '[data-ask="sensitivity"]')
    assert "times as long" in text_of(page, '[data-job="sensitivity"]')
    click(page, '[data-job="sensitivity"] table button')
    state = plan.call("state")
    assert state["answer"]["analysis"]["feasible"] is True
    assert state["labels"][-1].endswith("at its limit")


def reload(page: Browser) -> None:
    page.reload()
    page.wait("return document.body.classList.contains('ready')")
    settled(page)


def test_what_was_asked_is_there_again_when_the_page_is_loaded_again(
    page: Browser, plan: Plan
) -> None:
    turn_round(page, plan)
    click(page, '[data-ask="simulate"]')
    click(page, '[data-ask="find_miss"]')
    click(page, '[data-ask="synthesize"]')
    page.run("document.querySelector('[data-ask=\"sensitivity\"]').click()")  # and do not wait
    page.wait("return plan.jobs[0].kind === 'sensitivity' && plan.jobs[0].id")
    reload(page)
    kinds = page.run("return [...document.querySelectorAll('.job')].map((j) => j.dataset.job)")
    assert kinds == ["sensitivity", "synthesize", "find_miss", "simulate"]
    assert "4 of 4 chains hold with them" in text_of(page, '[data-job="synthesize"]')
    assert "counter-example of" in text_of(page, "#window")  # of the later one of both timelines
    assert "refuted" in text_of(page, "tr.chain .verdict")
    click(page, '[aria-label="Close Simulate"]')
    click(page, '[data-take="synthesize"]')
    assert "all 4 deadlines hold" in text_of(page, "#headline")
    reload(page)
    kinds = page.run("return [...document.querySelectorAll('.job')].map((j) => j.dataset.job)")
    assert kinds == ["sensitivity", "find_miss"]
    assert "an earlier version" in text_of(page, "#drawer")


def test_a_job_that_runs_is_found_again_and_can_be_stopped(page: Browser, plan: Plan) -> None:
    long = plan.call("job", kind="simulate", options={"seconds": 60})
    job = plan.server.jobs.get(long["job"])
    wait_for(lambda: job.pid is not None)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGSTOP)  # it runs until it is stopped
    page.reload()
    page.wait("return document.querySelector('.job.runs progress')")
    page.run("document.querySelector('.job.runs button.small').click()")
    settled(page)
    assert "stopped" in text_of(page, '[data-job="simulate"]')


def test_a_simulation_stands_beside_the_bounds(page: Browser, plan: Plan) -> None:
    click(page, '[data-ask="simulate"]')
    assert "logging" in text_of(page, '[data-job="simulate"]')
    page.wait("return document.querySelectorAll('#drawer .slice').length > 10")


def test_a_lost_server_makes_the_page_read_only_and_says_so(
    browser: Browser, tmp_path: Path
) -> None:
    serving = opened(tmp_path / "app.yaml", EXAMPLE.read_text())
    plan = next(serving)
    show(browser, plan)
    with pytest.raises(StopIteration):
        next(serving)
    choose(browser, "scan")
    fill(browser, "wcet_ms", "2")
    browser.wait("return !document.getElementById('lost').hidden")
    assert "read only" in text_of(browser, "#lost")
    assert browser.run("return document.querySelector('[data-field=wcet_ms]').disabled")
    browser.messages()


def test_the_saved_page_opens_without_a_server_and_changes_nothing(
    page: Browser, plan: Plan, tmp_path: Path
) -> None:
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    click(page, "#save")
    click(page, "#save-page")
    path = tmp_path / "autonomous_vehicle-plan.html"
    wait_for(path.is_file)
    page.load(path)
    page.wait("return document.body.classList.contains('ready')")
    assert bounds(page)["obstacle"] == "16.000"
    assert page.requests(path) == [path.as_uri()]
    click(page, '[data-chain="obstacle"]')
    enabled = page.run(
        "return [...document.querySelectorAll('#side input, #save, #undo, .asks button')]"
        ".filter((one) => !one.disabled).length"
    )
    assert enabled == 0


def test_a_hostile_name_of_a_file_is_text(browser: Browser, tmp_path: Path) -> None:
    name = "<img src=x onerror=window.hacked=1>.yaml"
    for plan in opened(tmp_path / name, EXAMPLE.read_text()):
        show(browser, plan)
        assert browser.run("return window.hacked") is None
        assert name in text_of(browser, ".title")
    assert browser.messages() == []


def test_measured_times_stand_beside_the_bounds(browser: Browser, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "preemptive", 1.0)
    seen = partial(observed, run, "preemptive")
    chain = load_single_run(run).executors[0].chain("obstacle")
    assert chain is not None
    assert chain.response is not None
    for plan in opened(
        tmp_path / "app.yaml", EXAMPLE.read_text(), observe=partial(observed, run, "preemptive")
    ):
        show(browser, plan)
        click(browser, '[data-chain="obstacle"]')
        shown = browser.run("return document.querySelector('[data-callback=scan]').textContent")
        scan = seen()["callbacks"]["scan"]
        assert f"max {scan['worst_ms']:.3g}".rstrip("0").rstrip(".") in shown
        said = text_of(browser, ".observed")
        assert f"p99 {chain.response.p99:.3f} ms" in said
        assert f"maximum {chain.response.worst:.3f} ms of {chain.completed} responses" in said
    assert browser.messages() == []


def test_misses_are_shown_with_their_number(browser: Browser, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "wait_set", 1.0)
    seen = observed(run, "wait_set")
    late = next(each for each in seen["chains"].values() if each["missed"])
    seen["chains"]["obstacle"] = {**late, "culprits": ["build_map"]}
    for plan in opened(tmp_path / "app.yaml", EXAMPLE.read_text(), observe=lambda: seen):
        show(browser, plan)
        click(browser, '[data-chain="obstacle"]')
        said = text_of(browser, ".observed")
        assert f"{late['missed']} missed; they were delayed by build_map" in said
        assert text_of(browser, ".seen") == f"measured {late['worst_ms']:.3f}, above"
        browser.run("set(['callbacks', 'scan', 'wcet_ms'], '2', 'x')")
        settled(browser)
        assert text_of(browser, ".seen") == f"measured {late['worst_ms']:.3f}"
        assert "before these changes" in text_of(browser, "#observed-note")


def test_a_run_that_goes_on_is_followed(browser: Browser, tmp_path: Path) -> None:
    directory = tmp_path / "results"
    unfinished = directory / STAGING / "run"
    write_run(unfinished, "preemptive", 1.0)
    marker = {"kind": "run", "executors": ["preemptive"], "rounds": 1, "seconds": 9.0}
    (directory / MARKER).write_text(json.dumps(marker))
    app = tmp_path / "app.yaml"
    observe = partial(observed, directory, "preemptive")
    for plan in opened(app, EXAMPLE.read_text(), observe=observe):
        show(browser, plan)
        first = observe()["chains"]["obstacle"]["n"]
        click(browser, '[data-chain="obstacle"]')
        assert f"of {first} responses" in text_of(browser, ".observed")
        newer = write_run(tmp_path / "newer", "preemptive", 2.0)
        unfinished.rename(tmp_path / "older")
        newer.rename(unfinished)
        browser.wait(
            "return !document.querySelector('.observed').innerText"
            f".includes('of {first} responses')"
        )
    browser.messages()
