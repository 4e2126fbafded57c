# SPDX-License-Identifier: Apache-2.0
"""The reports of monitors of robots, as the page of `rclrt plan --live` gets them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from rclrt_py.live.statuses import ERROR, OK, WARN, Status, Statuses
from rclrt_py.plan.live import observed
from rclrt_py.testing.browser import Browser
from rclrt_py.testing.plan_page import click, settled, show, text_of
from rclrt_py.testing.plan_server import opened

EXAMPLE = Path(__file__).parents[3] / "examples" / "autonomous_vehicle" / "app.yaml"
NAMES = {"/control timer 0": "steer", "/camera subscription /a": "fuse",
         "/camera subscription /b": "fuse", "/map timer 0": "map"}  # fmt: skip
STEER = "/control timer 0"


def process(pid: int, at: float, *, with_deadline: int = 1) -> Status:
    values = {"period_ms": "1000", "with_deadline": str(with_deadline)}
    return Status(f"rclrt: process arm {pid}", OK, "real time", values, at)


def callback(name: str = STEER, *, pid: int = 7, at: float = 0.0, **values: object) -> Status:
    stated = {"deadline_ms": "10.000", "limit_of": "response", "released": 100, "completed": 90}
    texts = {key: str(value) for key, value in (stated | values).items()}
    level = WARN if values.get("missed") else OK
    return Status(f"rclrt: {name}", level, "", texts, at, f"process arm {pid}")


def seen(statuses: Statuses, now_s: float = 0.0) -> dict[str, Any]:
    return observed(statuses, NAMES, now_s)


def filled(*all_statuses: Status) -> Statuses:
    statuses = Statuses()
    for status in all_statuses:
        statuses.take(status)
    return statuses


def test_times_misses_and_causes_add_up_until_the_process_starts_again() -> None:
    late: dict[str, Any] = {
        "most_in_the_way": "/map timer 0",
        "in_the_way_ms": "3.000",
        "worst_late_ms": "2.500",
    }
    statuses = filled(
        callback(missed=1, p99_ms="8.000", max_ms="12.500", **late),
        callback(missed=3, released=200, p99_ms="7.000", max_ms="9.000",
                 most_in_the_way="unexplained", in_the_way_ms="4.500", worst_late_ms="1"),
        callback(missed=4, released=300, p99_ms="6.000", max_ms="8.000", **late),
    )  # fmt: skip
    steer = seen(statuses)["callbacks"]["steer"]
    assert (steer["p99_ms"], steer["worst_ms"], steer["worst_late_ms"]) == (6.0, 12.5, 2.5)
    assert (steer["missed"], steer["fresh"], steer["limit_ms"]) == (4, 1, 10.0)
    assert steer["causes"] == [
        {"what": "map", "is_callback": True, "time_ms": 6.0},
        {"what": "unexplained", "is_callback": False, "time_ms": 4.5},
    ]
    statuses.take(callback(pid=8, at=1.0, missed=0, released=10, p99_ms="1.000", max_ms="2.000"))
    steer = seen(statuses)["callbacks"]["steer"]
    assert (steer["missed"], steer["fresh"], steer["worst_ms"], steer["causes"]) == (0, 0, 2.0, [])


def test_a_robot_that_vanishes_is_silent_and_one_that_starts_again_takes_its_place() -> None:
    statuses = filled(process(7, 0.0), callback(at=0.0, max_ms="2"))
    (robot,) = seen(statuses, 2.9)["robots"]
    assert (robot["silent_s"], robot["callbacks"]) == (None, 1)
    found = seen(statuses, 12.0)
    assert found["robots"][0]["silent_s"] == 12
    assert found["callbacks"]["steer"]["silent"] is True
    statuses.take(process(8, 12.5))
    assert [each["name"] for each in seen(statuses, 12.5)["robots"]] == [
        "process arm 7",
        "process arm 8",
    ]
    statuses.take(callback(pid=8, at=12.5, released=1))
    found = seen(statuses, 12.5)
    assert [each["name"] for each in found["robots"]] == ["process arm 8"]
    assert found["callbacks"]["steer"]["silent"] is False


def test_two_robots_with_equal_names_are_told_and_keep_their_own_counts() -> None:
    statuses = filled(process(7, 0.0), process(8, 0.1))
    for second in range(3):
        at = float(second)
        statuses.take(callback(at=at, missed=7 + second, released=1000 + second, max_ms="9"))
        statuses.take(callback(pid=8, at=at + 0.1, missed=0, released=10 + second, max_ms="2"))
        if second == 0:
            continue  # the second may be the first, started again, until the first is heard again
        found = seen(statuses, at + 0.1)
        steer = found["callbacks"]["steer"]
        assert (steer["missed"], steer["fresh"], steer["worst_ms"]) == (7 + second, 1, 9.0)
        assert [each["callbacks"] for each in found["robots"]] == [1, 1]
        (notice,) = found["notices"]
        assert notice.startswith(f"{STEER}: 2 processes report it")


def test_a_silent_process_without_limits_is_told_for_a_minute() -> None:
    statuses = filled(process(7, 0.0, with_deadline=0))
    assert seen(statuses, 30.0)["robots"][0]["silent_s"] == 30
    assert seen(statuses, 61.0)["robots"] == []


def test_the_two_inputs_of_a_sync_are_one_callback() -> None:
    statuses = filled(
        callback("/camera subscription /a", missed=1, max_ms="4", p99_ms="3"),
        callback("/camera subscription /b", missed=2, max_ms="9", p99_ms="1"),
    )
    fuse = seen(statuses)["callbacks"]["fuse"]
    assert (fuse["missed"], fuse["worst_ms"], fuse["p99_ms"], fuse["n"]) == (3, 9.0, 3.0, 180)


def test_callbacks_that_the_file_lacks_are_named_up_to_a_limit() -> None:
    statuses = filled(*(callback(f"/n{number:03} timer 0") for number in range(130)))
    found = seen(statuses)
    assert found["callbacks"] == {}
    assert found["unknown"][0] == "/n000 timer 0"
    assert (len(found["unknown"]), found["more_unknown"]) == (100, 30)


def test_stalls_and_a_callback_that_does_not_end_are_notices() -> None:
    stall = Status("rclrt: priority 0", ERROR, "every worker waits", {}, 0.0)
    over = Status("rclrt: /map timer 1 progress", OK, "its instances end", {}, 0.0)
    stuck = callback()
    stuck = Status(stuck.name, ERROR, "nothing has ended", stuck.values, 0.0, stuck.process)
    found = seen(filled(stall, over, stuck))
    assert found["notices"] == ["priority 0: every worker waits"]
    assert found["callbacks"]["steer"]["stuck"] == "nothing has ended"
    assert seen(filled(stall), 10.0)["notices"] == []


def test_an_age_by_the_clock_of_another_host_may_be_unknown() -> None:
    said = "47 of 50 met, 1 missed, 2 unknown"
    far = callback(stamped_by="lidar", missed=1, unknown=2, max_low_ms="50.1", max_high_ms="50.5")
    steer = seen(filled(Status(far.name, WARN, said, far.values, 0.0, far.process)))
    steer = steer["callbacks"]["steer"]
    assert (steer["worst_ms"], steer["unknown"], steer["note"]) == (50.1, 2, said)


def test_hostile_values_are_no_numbers() -> None:
    statuses = filled(
        callback(
            missed="9" * 400, max_ms="inf", p99_ms="nan", deadline_ms="x", worst_late_ms="1e99"
        )
    )
    steer = seen(statuses)["callbacks"]["steer"]
    assert (steer["missed"], steer["worst_ms"], steer["p99_ms"]) == (0, None, 0.0)
    assert (steer["limit_ms"], steer["worst_late_ms"]) == (0.0, 0.0)


def test_a_saved_page_has_the_measured_times_and_no_name_of_a_machine(
    browser: Browser, tmp_path: Path
) -> None:
    statuses = filled(
        process(7, 0.0),
        callback("/mapping subscription /map_request", limit_of="age", missed=2, max_ms="36.5"),
    )
    mapping = {"/mapping subscription /map_request": "build_map"}
    seen_now = {**observed(statuses, mapping, 0.0), "topic": "/d", "hint": "a hint", "error": ""}
    file = tmp_path / "saved.html"
    for plan in opened(tmp_path / "app.yaml", EXAMPLE.read_text(), observe=lambda: seen_now):
        show(browser, plan)
        assert "process arm 7" in text_of(browser, "#robots")
        file.write_text(plan.call("page")["html"])
        assert browser.messages() == []
        browser.leave()  # the page would go on to ask the command
    assert "process arm" not in file.read_text()
    browser.load(file)
    browser.wait("return document.body.classList.contains('ready')")
    assert "measured until this page was saved" in text_of(browser, "#robots")
    click(browser, "[data-chain=mapping]")
    assert text_of(browser, ".seen") == "age 36.500, above"  # of 36 ms, by more than 1 %
    assert "2 of 90 ages missed" in text_of(browser, ".observed")
    colours = browser.run(
        "const of = (one) => getComputedStyle(document.querySelector(one)).color;"
        "return [of('.seen'), of('.missed-list .late-text')]"
    )
    assert colours[0] == colours[1]
    assert browser.messages() == []


def test_newer_times_leave_the_focus_and_are_not_compared_with_what_was_saved_since(
    browser: Browser, tmp_path: Path
) -> None:
    count = itertools.count(100)

    def look() -> dict[str, Any]:
        status = callback("/mapping subscription /map_request", limit_of="age", max_ms="36.5",
                          completed=next(count))  # fmt: skip
        mapping = {"/mapping subscription /map_request": "build_map"}
        found = observed(filled(process(7, 0.0), status), mapping, 0.0)
        return {**found, "topic": "/d", "hint": "a hint", "error": ""}

    for plan in opened(tmp_path / "app.yaml", EXAMPLE.read_text(), observe=look):
        show(browser, plan)
        click(browser, "[data-chain=mapping]")
        part = browser.run(
            "const one = document.querySelector('[data-part]'); one.focus();return one.dataset.part"
        )
        before = browser.run("return plan.state.observed.callbacks.build_map.n")
        browser.wait(f"return plan.state.observed.callbacks.build_map.n > {before}")
        assert browser.run("return document.activeElement.dataset.part") == part
        assert text_of(browser, ".seen") == "age 36.500, above"
        browser.run("set(['callbacks', 'scan', 'wcet_ms'], '0.5', 'x')")
        settled(browser)
        plan.save()
        show(browser, plan)
        assert browser.run("return plan.state.dirty") is False
        assert text_of(browser, ".seen") == "age 36.500"
        assert browser.messages() == []
        browser.leave()
