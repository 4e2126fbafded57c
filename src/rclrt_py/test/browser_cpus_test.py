# SPDX-License-Identifier: Apache-2.0
"""The rows of CPUs in the timeline, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.comparisons.comparison import load_single_run
from rclrt_py.report.gantt import MAX_PARTS, gantt_data
from rclrt_py.report.page import make_report
from rclrt_py.runs.application import from_results
from rclrt_py.runs.csv_reader import INSTANCE_COLUMNS
from rclrt_py.testing.browser import NARROW, WIDE, Browser, overlaps
from rclrt_py.testing.scheduler_model import MS, Callback, Chain
from rclrt_py.testing.synthetic_run import write_run
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

PERIOD_MS = 50
TIMES = "\N{MULTIPLICATION SIGN}"
# Callback, priority, from, to, CPU time, preemptions in ms from each release; the CPUs.
TWO_CPUS = [
    ("middle", 2, 0, 3, 3, 0, "0"),
    ("brake", 3, 1, 5, 4, 0, "1"),
    ("low", 1, 0, 7, 5, 1, "1:0-1;0:3-7"),  # brake takes CPU 1, and middle leaves CPU 0
    ("restless", 1, 20, 30, 8, 1, "0;1"),
    ("middle", 2, 22, 24, 2, 0, "0"),
    ("stalled", 1, 35, 40, 1, 0, "1"),
]
ROWS = """
const lanes = document.querySelector('.gantt-lanes');
const names = [...lanes.querySelectorAll('.lane-names text')];
const drawing = lanes.querySelector('svg[role]');
const [first, second] = drawing.querySelectorAll('.axis .tick');
const x = (tick) => Number(tick.getAttribute('x'));
const step = Number(second.textContent) - Number(first.textContent);
const ms = (px) => Number(first.textContent) + (px - x(first)) * step / (x(second) - x(first));
const distance = (name, y) => Math.abs(name.getAttribute('y') - 4 - y);
const nearest = (y) =>
  names.reduce((a, b) => (distance(a, y) < distance(b, y) ? a : b)).textContent;
const value = (element, name) => Number(element.getAttribute(name));
return {
  names: names.map((name) => name.textContent),
  parts: [...drawing.querySelectorAll('.on-cpu rect')].map((rect) => ({
    row: nearest(value(rect, 'y') + value(rect, 'height') / 2),
    kind: rect.getAttribute('class'),
    from: Math.round(ms(value(rect, 'x')) * 10) / 10,
    to: Math.round(ms(value(rect, 'x') + value(rect, 'width') + 0.8) * 10) / 10,
    fill: getComputedStyle(rect).fill,
  })),
  threads: [...drawing.querySelectorAll('.slice:not(.on-cpu) .run')].map((rect) => ({
    from: Math.round(ms(value(rect, 'x')) * 10) / 10,
    fill: getComputedStyle(rect).fill,
  })),
  moves: [...drawing.querySelectorAll('.migration')].map((mark) => {
    const [line, dot] = [mark.querySelector('line'), mark.querySelector('circle')];
    return {
      at: Math.round(ms(value(line, 'x1')) * 10) / 10,
      from: nearest(value(line, 'y1')),
      to: nearest(value(dot, 'cy')),
    };
  }),
};
"""


def shifted(cpus: str, by: int) -> str:
    """Returns the CPUs with the times of their parts in nanoseconds, `by` later."""
    parts = []
    for part in cpus.split(";"):
        cpu, *times = part.replace("-", ":").split(":")
        edges = [str(int(time) * MS + by) for time in times]
        parts.append(f"{cpu}:{edges[0]}-{edges[1]}" if edges else cpu)
    return ";".join(parts)


def write_cpus(directory: Path, jobs: list[tuple[str, int, int, int, int, int, str]]) -> Path:
    """Writes a run of 0.5 s in which the jobs repeat every 50 ms."""
    names = dict.fromkeys(job[0] for job in jobs)
    callbacks = [Callback(name, "node", MS, 1, period=PERIOD_MS * MS) for name in names]
    chains = [Chain("braking", ("brake",), 3, 45 * MS), Chain("mapping", ("low",), 1, 45 * MS)]
    known = [chain for chain in chains if chain.callbacks[0] in names]
    write_run(directory, seconds=0.5, graph=(callbacks, known))
    chain_of = {chain.callbacks[0]: chain.id for chain in known}
    lines = [",".join(INSTANCE_COLUMNS)]
    for period in range(10):
        base = period * PERIOD_MS * MS
        for name, priority, start, end, cpu, preemptions, cpus in jobs:
            tokens = f"{chain_of[name]}:{period}" if name in chain_of else ""
            times = [base, base, base + start * MS, base + end * MS, cpu * MS, preemptions]
            row = [len(lines), name, priority, f"main L{priority} #0", *times, "ran", tokens]
            lines.append(",".join(map(str, [*row, shifted(cpus, base)])))
    (directory / "instances.csv").write_text("\n".join(lines) + "\n")
    return directory


def count_switches(directory: Path, counts: dict[str, tuple[int, int]]) -> None:
    path = directory / "results.json"
    document = json.loads(path.read_text())
    for callback in document["callbacks"]:
        callback["preemptions"], callback["migrations"] = counts.get(callback["id"], (0, 0))
    path.write_text(json.dumps(document))


def write_page(directory: Path) -> Path:
    path = directory / "report.html"
    path.write_text(make_report(load_single_run(directory), directory), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = write_cpus(tmp_path_factory.mktemp("cpus") / "run", TWO_CPUS)
    count_switches(directory, {"low": (10, 10), "restless": (10, 12)})
    return write_page(directory)


def pressed(browser: Browser, group: str) -> str:
    script = """return document.querySelector(
      `[aria-label="${arguments[0]}"] button[aria-pressed="true"]`).textContent"""
    text: str = browser.run(script, group)
    return text


@pytest.mark.parametrize("dark", [False, True])
def test_each_cpu_has_a_row_with_what_ran_there_in_the_colour_of_its_chain(
    browser: Browser, page: Path, dark: bool
) -> None:
    browser.open(page, WIDE, dark)
    assert browser.messages() == []
    drawn = browser.run(ROWS)
    assert drawn["names"][:4] == ["braking", "mapping", "CPU 0", "CPU 1"]
    found = sorted((one["row"], one["from"], one["to"], one["kind"]) for one in drawn["parts"])
    assert found == [
        ("CPU 0", 0.0, 3.0, "run"),  # middle
        ("CPU 0", 3.0, 7.0, "run"),  # low
        ("CPU 0", 20.0, 30.0, "unsure"),
        ("CPU 0", 22.0, 24.0, "run"),
        ("CPU 1", 0.0, 1.0, "run"),  # low
        ("CPU 1", 1.0, 5.0, "run"),  # brake
        ("CPU 1", 20.0, 30.0, "unsure"),
        ("CPU 1", 35.0, 40.0, "run"),  # stalled
    ]
    fills = {(one["row"], one["from"]): one["fill"] for one in drawn["parts"]}
    threads = {one["from"]: one["fill"] for one in drawn["threads"]}
    assert fills["CPU 1", 1.0] == threads[1.0]  # brake
    assert fills["CPU 0", 3.0] == fills["CPU 1", 0.0] == threads[3.0]  # low
    assert len({fills["CPU 1", 1.0], fills["CPU 0", 3.0], fills["CPU 0", 22.0]}) == 3


def test_a_migration_is_marked_where_the_instance_continues(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run(ROWS)["moves"] == [{"at": 3.0, "from": "CPU 1", "to": "CPU 0"}]
    script = "return [...document.querySelectorAll('#timeline .note .key')].map((k) => k.innerText)"
    assert {"continues on another CPU", "changed the CPU, time unknown"} < set(browser.run(script))


def test_a_slice_with_known_parts_pauses_between_them_in_its_thread(
    browser: Browser, page: Path
) -> None:
    browser.open(page)
    starts = sorted(one["from"] for one in browser.run(ROWS)["threads"])
    # low from 0 and from 3; restless from 20 and, as middle explains the missing time, from 24
    assert starts == [0.0, 0.0, 1.0, 3.0, 20.0, 22.0, 24.0, 35.0]


def test_a_slice_that_was_held_up_is_drawn_so_on_its_cpu_too(browser: Browser, page: Path) -> None:
    browser.open(page)
    fills = browser.run(
        """return [...document.querySelectorAll('.held-up .run')].map((rect) =>
          [rect.parentNode.classList.contains('on-cpu'), getComputedStyle(rect).fill]);"""
    )
    assert sorted(on_cpu for on_cpu, _ in fills) == [False, True]
    assert len({fill for _, fill in fills}) == 1


@pytest.mark.parametrize(
    ("part", "lines"),
    [
        (".on-cpu.k1 .run", ["low", f"CPU 0, 1, moved 1 {TIMES}"]),
        (".on-cpu .unsure", ["restless", "began on CPU 0, ended on CPU 1"]),
        (".on-cpu.k0 .run", ["brake", "CPU 1"]),
    ],
)
def test_pointing_at_a_part_tells_its_cpus(
    browser: Browser, page: Path, part: str, lines: list[str]
) -> None:
    browser.open(page)
    element = browser.driver.find_element("css selector", part)
    ActionChains(browser.driver).move_to_element(element).perform()
    browser.wait("return !document.getElementById('tooltip').hidden")
    shown = browser.run("return document.getElementById('tooltip').innerText").split("\n")
    assert shown[0] == lines[0]
    assert lines[1] in shown


def test_the_rows_are_hidden_and_shown_with_the_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert pressed(browser, "CPUs") == "shown"
    hide = browser.driver.find_element("css selector", '[aria-label="CPUs"] button:last-of-type')
    hide.send_keys(Keys.ENTER)
    assert pressed(browser, "CPUs") == "hidden"
    assert "CPU 0" not in browser.run(ROWS)["names"]
    assert browser.run(ROWS)["parts"] == []
    hide.send_keys(Keys.SHIFT, Keys.TAB)
    browser.driver.switch_to.active_element.send_keys(Keys.SPACE)
    assert pressed(browser, "CPUs") == "shown"
    assert "CPU 0" in browser.run(ROWS)["names"]


def test_the_counts_of_each_callback_are_in_a_table(browser: Browser, page: Path) -> None:
    browser.open(page)
    rows = browser.run(
        """
        return [...document.querySelectorAll('table.switches tbody tr')]
          .map((row) => [...row.children].map((cell) => cell.textContent));
        """
    )
    assert rows == [["low", "10 · 10"], ["restless", "10 · 12"]]


@pytest.mark.parametrize("width", [WIDE, 768, NARROW, 320])
def test_no_label_overlaps_and_the_page_does_not_scroll_sideways(
    browser: Browser, page: Path, width: int
) -> None:
    browser.open(page, width)
    assert browser.run("return document.documentElement.scrollWidth") == width
    assert overlaps(browser) == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_marks_stand_out_from_what_is_behind_them(
    browser: Browser, page: Path, dark: bool
) -> None:
    browser.open(page, WIDE, dark)
    ratios: dict[str, float] = browser.run(
        """
        const channel = (value) =>
          (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
        const luminance = (colour) => {
          const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
          const [r, g, b] = (colour.startsWith('rgb') ? parts.map((part) => part / 255) : parts)
            .map(channel);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ratio = (a, b) => {
          const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
          return (high + 0.05) / (low + 0.05);
        };
        const style = (selector) => getComputedStyle(document.querySelector(selector));
        const surface = style('.panel').backgroundColor;
        return {
          mark: ratio(style('.migration line').stroke, surface),
          unsure: ratio(style('.on-cpu .unsure').stroke, surface),
          'text on unsure':
            ratio(style('.on-cpu .unsure + text').fill, style('.on-cpu .unsure').fill),
        };
        """
    )
    assert ratios["mark"] >= 4.5
    assert ratios["unsure"] >= 2.2, ratios  # as the grey of slices without a chain
    assert ratios["text on unsure"] >= 4.5


def test_results_without_cpus_are_shown_as_before(browser: Browser, tmp_path: Path) -> None:
    directory = write_cpus(tmp_path / "run", TWO_CPUS)
    path = directory / "instances.csv"
    path.write_text("".join(f"{line.rpartition(',')[0]}\n" for line in path.open()))
    results = directory / "results.json"
    document = json.loads(results.read_text())
    for callback in document["callbacks"]:
        del callback["migrations"]
    results.write_text(json.dumps(document))
    browser.open(write_page(directory))
    assert browser.messages() == []
    assert browser.run(ROWS)["names"][2:] == ["main L3", "main L2", "main L1"]
    for selector in ('[aria-label="CPUs"]', "#switches", ".on-cpu"):
        assert browser.run("return document.querySelector(arguments[0])", selector) is None


def test_the_row_of_a_single_cpu_is_shown_on_demand(browser: Browser, tmp_path: Path) -> None:
    browser.open(write_page(write_cpus(tmp_path / "run", [("brake", 3, 1, 5, 4, 0, "2")])))
    assert pressed(browser, "CPUs") == "hidden"
    assert "CPU 2" not in browser.run(ROWS)["names"]
    browser.driver.find_element("css selector", '[aria-label="CPUs"] button').click()
    assert "CPU 2" in browser.run(ROWS)["names"]


def test_an_instance_in_very_many_parts_is_cut_and_the_page_says_so(
    browser: Browser, tmp_path: Path
) -> None:
    def parts(base: int) -> str:
        starts = range(base, base + 40 * MS, 10_000)
        return ";".join(f"{n % 2}:{start}-{start + 5_000}" for n, start in enumerate(starts))

    directory = write_cpus(tmp_path / "run", [("brake", 3, 0, 40, 20, 3999, "0")])
    path = directory / "instances.csv"
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    lines = [header, *([*row[:-1], parts(int(row[4]))] for row in rows)]
    path.write_text("".join(f"{','.join(line)}\n" for line in lines))
    comparison = load_single_run(directory)
    data: dict[str, Any] = gantt_data(comparison, from_results(comparison.executors[0]))
    counts = [
        sum(len(one.get("parts", ())) for one in panel["slices"])
        for choice in data["choices"]
        for panel in choice["panels"]
    ]
    assert max(counts) == MAX_PARTS
    browser.open(write_page(directory))
    titles = browser.run("return document.querySelector('.timeline').textContent")
    assert "too many slices" in titles
