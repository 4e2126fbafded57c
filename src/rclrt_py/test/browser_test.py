# SPDX-License-Identifier: Apache-2.0
"""report.html in a real browser: what a reader sees, and what the page must not do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.comparisons.comparison import Comparison, load_single_run, merge_directory
from rclrt_py.report.headline import headline
from rclrt_py.report.page import make_report
from rclrt_py.runs.application import from_results
from rclrt_py.testing.browser import EVIL, NARROW, WIDE, Browser, overlaps
from rclrt_py.testing.scheduler_model import MS, Callback, Chain
from rclrt_py.testing.streamed_run import stream_run
from rclrt_py.testing.synthetic_run import vehicle, write_run
from selenium.webdriver.common.action_chains import ActionChains

TIMES = "\N{MULTIPLICATION SIGN}"
CLOSING = "</script><script>window.hacked=2</script>"
FILLING = "@DATA@ @SCRIPT@ {{7*7}} ${7*7}"
SEPARATOR = "line\u2028paragraph\u2029 &amp; \"quote\" 'single'"
LONG = "very_long_name_" * 17

CONTRAST = """
const luminance = (colour) => {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const ratio = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const style = (selector) => getComputedStyle(document.querySelector(selector));
const surface = style('.panel').backgroundColor;
const page = style('html').backgroundColor;
return {
  'text on panel': ratio(style('.panel').color, surface),
  'headline': ratio(style('.headline').color, page),
  'note': ratio(style('.note').color, page),
  'axis title': ratio(style('svg .axis-title').fill, surface),
  'tick': ratio(style('svg .tick').fill, surface),
  'deadline': ratio(style('svg .deadline-label').fill, surface),
  'missed': ratio(style('td.late-text').color, surface),
  'link': ratio(style('#trace a').color, surface),
  ...Object.fromEntries([...document.querySelectorAll('.slice')].map((slice) => {
    const [run, text] = [slice.querySelector('.run'), slice.querySelector('text')];
    return run && text ? [`slice ${slice.getAttribute('class')}`,
      ratio(getComputedStyle(run).fill, getComputedStyle(text).fill)] : ['none', 99];
  })),
};
"""


@pytest.fixture(scope="module")
def page(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("report")
    (directory / "trace.pftrace").write_bytes(b"")
    path = directory / "report.html"
    path.write_text(make_report(comparison, directory), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page in which every name that comes from a file is an attack or a burden."""
    directory = tmp_path_factory.mktemp("hostile")
    graph = (
        [
            Callback(EVIL, CLOSING, 2 * MS, 2, (SEPARATOR,), (), period=20 * MS),
            Callback(LONG, LONG, 3 * MS, 1, (LONG,), (), period=20 * MS),
            Callback(FILLING, EVIL, 4 * MS, 1, (), (SEPARATOR, LONG)),
        ],
        [Chain(CLOSING, (EVIL, FILLING), 2, 15 * MS), Chain(LONG, (LONG, FILLING), 1, 15 * MS)],
    )
    for executor in ("wait_set", "preemptive"):
        run = directory / executor / "round-1"
        write_run(run, executor, 1.0, graph=graph, app_file=CLOSING, app_name=FILLING)
        document = json.loads((run / "results.json").read_text())
        document["executor_label"] = EVIL + executor
        document["context"].update(cpu_model=CLOSING, realtime_reason=EVIL, versions={EVIL: LONG})
        (run / "results.json").write_text(json.dumps(document))
    comparison = merge_directory(directory, ("wait_set", "preemptive"), 1, 1.0)
    info = replace(from_results(comparison.executors[0]), description=EVIL, complete=True)
    (directory / "application.json").write_text(info.to_json())
    path = directory / "report.html"
    path.write_text(make_report(comparison, directory), encoding="utf-8")
    return path


def press(browser: Browser, group: str, text: str) -> None:
    pressed = browser.run(
        """
        const group = document.querySelector(`[aria-label="${arguments[0]}"]`);
        const button = [...group.querySelectorAll('button')]
          .find((one) => one.textContent === arguments[1]);
        button.click();
        return button.getAttribute('aria-pressed');
        """,
        group,
        text,
    )
    assert pressed == "true"


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True])
def test_it_draws_without_complaint_and_asks_the_network_for_nothing(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    browser.open(page, width, dark)
    assert browser.messages() == []
    assert browser.requests(page) == [page.as_uri()]


@pytest.mark.parametrize("width", [WIDE, 768, NARROW, 320])
def test_the_page_never_scrolls_sideways(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width)
    assert browser.run("return document.documentElement.scrollWidth") == width


def test_the_legends_list_what_is_drawn(browser: Browser, page: Path, tmp_path: Path) -> None:
    def legend(section: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)"
        keys: list[str] = browser.run(script, f"#{section} .note .key")
        return keys

    browser.open(page)
    assert legend("responses") == ["median", "p99", "best to worst", "after the deadline"]
    assert {"late", "preempted", "no chain"} < set(legend("timeline"))
    graph = (
        [Callback("beat", "lamp", MS, 1, (), (), period=50 * MS)],
        [Chain("beating", ("beat",), 1, 45 * MS)],
    )
    directory = write_run(tmp_path / "run", seconds=1.0, graph=graph)
    calm = directory / "report.html"
    calm.write_text(make_report(load_single_run(directory), directory), encoding="utf-8")
    browser.open(calm)
    assert legend("responses") == ["median", "p99", "best to worst"]
    assert legend("timeline") == ["release", "▼deadline", "response", "runs", "beating"]
    assert legend("graph") == ["timer", "beating"]


@pytest.mark.parametrize("width", [WIDE, 768, NARROW])
@pytest.mark.parametrize("lanes", ["threads", "callbacks"])
@pytest.mark.parametrize("zoom", ["1", "4"])
def test_no_two_labels_overlap(
    browser: Browser, page: Path, width: int, lanes: str, zoom: str
) -> None:
    browser.open(page, width)
    press(browser, "Lanes", lanes)
    press(browser, "Zoom", f"{zoom} {TIMES}")
    assert overlaps(browser) == []


def test_the_check_for_overlaps_finds_one(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run(
        """
        const text = document.querySelector('svg text');
        text.parentNode.append(text.cloneNode(true));
        """
    )
    assert len(overlaps(browser)) == 1


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_axis_has_a_title_with_its_unit(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width)
    titles = browser.run(
        """
        return [...document.querySelectorAll('.distribution svg')].map((svg) =>
          [...svg.querySelectorAll('.axis-title')].map((title) => title.textContent));
        """
    )
    assert len(titles) == 3
    for x_title, y_title in titles:
        assert x_title == "response time (ms)"
        assert y_title.startswith("share")
    note = browser.run("return document.querySelector('.axis-note').textContent")
    assert note == "time since the start of the window (ms)"
    ticks = browser.run(
        """
        return [...document.querySelectorAll('.distribution svg, .gantt-lanes svg[role]')]
          .map((svg) => svg.querySelectorAll('.axis .tick').length);
        """
    )
    assert min(ticks) >= 2


def test_the_deadline_stands_where_the_axis_says(browser: Browser, page: Path) -> None:
    browser.open(page)
    deadline, tick = browser.run(
        """
        const svg = document.querySelector('.distribution svg');
        const tick = [...svg.querySelectorAll('.tick')].find((one) => one.textContent === '30');
        return [Number(svg.querySelector('.deadline').getAttribute('x1')),
          Number(tick.getAttribute('x'))];
        """
    )
    assert deadline == pytest.approx(tick)  # chain obstacle's deadline is 30 ms


def test_the_headline_and_the_table_say_what_was_measured(
    browser: Browser, page: Path, comparison: Comparison
) -> None:
    browser.open(page)
    shown = browser.run("return document.getElementById('headline').textContent")
    assert shown == headline(comparison)
    rows = browser.run(
        """
        return [...document.querySelectorAll('table.figures tbody:first-of-type tr')].slice(1)
          .map((row) => [...row.children].map((cell) => cell.textContent));
        """
    )
    for row, results in zip(rows, comparison.executors, strict=True):
        chain = results.chain("obstacle")
        assert chain is not None
        assert chain.response is not None
        assert row[:4] == [
            results.executor_label,
            *map(str, (chain.released, chain.completed, chain.missed)),
        ]
        assert row[8] == f"{chain.response.p99:.3f}"


def test_preemption_is_drawn_where_executors_preempt_and_only_there(
    browser: Browser, page: Path
) -> None:
    browser.open(page)
    paused = browser.run(
        """
        return [...document.querySelectorAll('.gantt-panel')].map((panel) =>
          [panel.querySelector('h3').textContent, panel.querySelectorAll('.paused').length]);
        """
    )
    counts = dict(paused)
    assert counts.pop("wait set (rclcpp semantics)") == 0
    assert min(counts.values()) > 0


def test_another_window_other_lanes_and_zoom_are_drawn(browser: Browser, page: Path) -> None:
    browser.open(page)
    script = "return [...document.querySelectorAll('.gantt-title')].map((one) => one.textContent)"
    worst = browser.run(script)
    browser.run(
        """
        const select = document.getElementById('window');
        select.value = select.options.length - 1;
        select.dispatchEvent(new Event('change'));
        """
    )
    beginning = browser.run(script)
    assert len(worst) == len(beginning) == 4
    assert all("obstacle #" in title for title in worst)
    assert all("round 1, from 0.15 s" in title for title in beginning)
    names = "return document.querySelector('.lane-names').textContent"
    assert "identify" not in browser.run(names)
    press(browser, "Lanes", "callbacks")
    assert "identify" in browser.run(names)
    width = "return document.querySelector('.gantt-lanes svg[role]').clientWidth"
    before = browser.run(width)
    press(browser, "Zoom", f"4 {TIMES}")
    assert browser.run(width) > 3 * before


def test_pointing_at_a_slice_tells_its_details(browser: Browser, page: Path) -> None:
    browser.open(page)
    slices = browser.driver.find_elements("css selector", ".slice .run")
    widest = max(slices, key=lambda element: element.size["width"])
    ActionChains(browser.driver).move_to_element(widest).perform()
    browser.wait("return !document.getElementById('tooltip').hidden")
    text = browser.run("return document.getElementById('tooltip').innerText")
    assert text.startswith("localize\n")
    assert "for mapping #" in text
    assert "CPU " in text


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_its_background(browser: Browser, page: Path, dark: bool) -> None:
    browser.open(page, WIDE, dark)
    weak = {what: value for what, value in browser.run(CONTRAST).items() if value < 4.5}
    assert weak == {}  # WCAG 2.1, level AA


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_hostile_names_are_text_and_nothing_but_text(
    browser: Browser, hostile_page: Path, width: int
) -> None:
    browser.open(hostile_page, width)
    assert browser.messages() == []
    assert browser.requests(hostile_page) == [hostile_page.as_uri()]
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert browser.run("return document.scripts.length") == 2
    text = browser.run("return document.body.textContent")
    for name in (EVIL, CLOSING, FILLING):
        assert name in text
    assert browser.run("return document.title") == f"{FILLING} · rclrt report"
    assert browser.run("return document.documentElement.scrollWidth") == width
    assert overlaps(browser) == []


def test_a_script_that_got_in_would_not_run(browser: Browser, page: Path, tmp_path: Path) -> None:
    # The second line of defence: only the page's own script may run.
    text = page.read_text(encoding="utf-8")
    evil = tmp_path / "evil.html"
    evil.write_text(text.replace("<main", "<script>window.hacked=3</script><main", 1))
    browser.open(evil)
    assert browser.run("return window.hacked") is None
    assert any("Content Security Policy" in message for message in browser.messages())


def test_the_check_for_requests_finds_one(browser: Browser, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    curious = tmp_path / "curious.html"
    # This page lacks the policy, which would forbid it.
    image = "<img src='file:///nowhere.png'><main"
    curious.write_text(text.replace("Content-Security-Policy", "x").replace("<main", image, 1))
    browser.open(curious)
    assert browser.requests(curious) == [curious.as_uri(), "file:///nowhere.png"]


def test_a_single_run_has_a_report_too(browser: Browser, tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    path = directory / "report.html"
    path.write_text(make_report(load_single_run(directory), directory), encoding="utf-8")
    browser.open(path)
    assert browser.messages() == []
    assert browser.run("return document.querySelectorAll('.card').length") == 1
    assert "baseline" not in browser.run("return document.getElementById('figures').textContent")


def test_responses_over_several_magnitudes_get_a_logarithmic_axis(
    browser: Browser, tmp_path: Path
) -> None:
    callbacks, chains = vehicle()
    fast = Callback("blink", "lamp", MS // 5, 9, (), (), period=50 * MS)
    slow = Chain("blinking", ("blink",), 9, 45 * MS)
    graph = ([fast, *callbacks], [slow, *chains])
    directory = write_run(tmp_path / "run", seconds=1.0, graph=graph)
    path = directory / "report.html"
    path.write_text(make_report(load_single_run(directory), directory), encoding="utf-8")
    browser.open(path)
    ticks: Any = browser.run(
        """
        const svg = document.querySelector('.distribution svg');
        return [...svg.querySelectorAll('.axis .tick')].map((one) => Number(one.textContent));
        """
    )
    assert ticks[0] > 0
    assert ticks[-1] / ticks[0] >= 20
    assert overlaps(browser) == []
    browser.open(path, 320)
    assert overlaps(browser) == []


def test_the_page_of_a_run_that_streamed_shows_what_is_kept(
    browser: Browser, tmp_path: Path
) -> None:
    directory = stream_run(write_run(tmp_path / "night"), 500 * MS, "interrupted")
    path = tmp_path / "report.html"
    path.write_text(make_report(load_single_run(directory), directory, path), encoding="utf-8")
    for width in (WIDE, NARROW):
        browser.open(path, width)
        text = browser.driver.execute_script("return document.body.innerText")
        assert "the run was stopped after 2.0 s" in text
        assert "instances of callbacks are kept" in text
        assert "The kept instances on their threads, with arrows along the chains" in text
        assert browser.driver.execute_script(
            "return document.querySelectorAll('.timeline svg .slice').length > 0"
        )
        assert overlaps(browser) == []
    assert browser.messages() == []
