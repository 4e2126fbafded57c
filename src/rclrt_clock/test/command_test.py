# SPDX-License-Identifier: Apache-2.0
"""`rclrt clock` with a program that writes what a test states."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from rclrt_clock.offsets import MOST_PEERS, Offsets, Peer
from rclrt_clock.plot import offsets_picture
from rclrt_py.clocks.interval import Interval
from rclrt_py.clocks.sources import ClockSource
from rclrt_py.errors import RunFailed
from rclrt_py.terminal.table import Paint
from rclrt_py.testing.command import Rclrt

from rclrt_clock import table, view

SCHEMA = Path(__file__).resolve().parents[3] / "schemas/clock.schema.json"
START = {
    "rclrt_clock": 1, "host": "here", "boot": "0" * 16, "session": "1" * 16, "drift_ppm": 50.0,
    "period_ms": 200.0, "topic": "/rclrt/clock", "test_clock": False,
}  # fmt: skip
CHRONY = ClockSource("chrony", "the time of 10.0.0.1", Interval(-580_000.0, 580_000.0))
REPORT = {"report": 1, "realtime_ns": 1, "monotonic_ns": 2}


def peer(at_s: float = 1.0, low_ms: float | None = 39.9, **values: object) -> dict[str, Any]:
    low_ns = None if low_ms is None else round(low_ms * 1e6)
    known = {
        "low_ns": low_ns,
        "high_ns": None if low_ns is None else low_ns + 400_000,
        "age_ns": None if low_ns is None else 200_000_000,
        "drift_low_ppm": -12.4, "drift_high_ppm": 30.2, "received": 10, "lost": 1, "steps": 2,
        "silent": False,
    }  # fmt: skip
    times = {"realtime_ns": round((1.7e9 + at_s) * 1e9), "monotonic_ns": round(at_s * 1e9)}
    return {"peer": "there", "boot": "2" * 16, **times, **known, **values}


def event(name: str, host: str = "there", **values: object) -> dict[str, Any]:
    return {"event": name, "host": host, "realtime_ns": 1, "monotonic_ns": 2, **values}


def taken(*documents: dict[str, Any]) -> Offsets:
    offsets = Offsets()
    for document in (START, *documents):
        offsets.take(json.dumps(document))
    return offsets


def shown(offsets: Offsets) -> list[str]:
    return list(table.lines(offsets, [CHRONY], Paint(False)))


@pytest.fixture
def writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a program that writes the file `lines`; its exit code is in `code`."""
    program = tmp_path / "workspace/lib/rclrt_clock/rclrt_clock"
    program.parent.mkdir(parents=True)
    (tmp_path / "code").write_text("0")
    program.write_text(
        f"#!/bin/sh\necho \"$@\" >'{tmp_path}/arguments'\ncat '{tmp_path}/lines'\n"
        f"exit $(cat '{tmp_path}/code')\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "workspace"))
    monkeypatch.setattr(view, "clock_sources", lambda: [CHRONY])
    return tmp_path


def write_lines(folder: Path, *documents: dict[str, Any]) -> None:
    text = "".join(json.dumps(each) + "\n" for each in (START, *documents))
    (folder / "lines").write_text(text)


def test_a_line_has_the_interval_its_age_the_drift_and_the_counters() -> None:
    lines = shown(taken(peer()))
    assert lines[1].split() == [
        *("there", "+39.900", "+40.300", "0.400", "0.2", "-12", "to", "+30", "2", "1")
    ]
    assert lines[2] == "chrony: this clock less the time of 10.0.0.1: -0.580 to +0.580 ms"
    assert max(map(len, lines)) <= 120


def test_an_unknown_offset_is_no_number() -> None:
    lines = shown(taken(peer(low_ms=None, drift_low_ppm=None, drift_high_ppm=None)))
    assert lines[1].split() == ["there", "-", "-", "-", "-", "-", "2", "1"]
    assert "no interval yet" in lines[2]


def test_a_silent_host_and_a_mistake_of_tai_and_utc_are_named() -> None:
    lines = shown(taken(peer(low_ms=-37_000.2, silent=True)))
    assert lines[1].endswith("(silent)")
    assert lines[2].startswith("  within a second of 37 s: one clock shows TAI")
    assert not any("TAI" in line for line in shown(taken(peer(low_ms=-35_000.0))))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (event("clock_set", "here", by_ns=-3_000_000), "was set by -3 ms"),
        (event("step"), "there: its pings contradict each other: a machine was suspended, or"),
        (event("lost_events", count=7), "7 further events are not listed"),
        (event("lost_lines", "", count=8), "this program reads too slowly: 8 lines are lost"),
        (event("test_clock"), "the clock of there is wrong on purpose"),
        (event("same_name", "here"), "another machine is also called here"),
        (event("new_kind"), "there: new_kind"),
    ],
)
def test_an_event_is_a_sentence(document: dict[str, Any], expected: str) -> None:
    assert expected in table.event_line(document, 50.0)


def test_names_cannot_write_to_the_terminal() -> None:
    lines = shown(taken(peer(peer="\x1b[2J" + "x" * 500)))
    assert all(line.isprintable() and len(line) <= 120 for line in lines)


def test_the_samples_of_a_long_measurement_stay_bounded() -> None:
    one = Peer("there", "2" * 16)
    for number in range(3_000):
        one.take(peer(number), 1_000)
    assert 500 <= len(one.samples) <= 1_000
    assert one.samples[-1].monotonic_ns > 2.9e12
    offsets = taken(*(peer(1.0, peer=f"host{number}") for number in range(2 * MOST_PEERS)))
    assert len(offsets.peers) == MOST_PEERS


def test_a_host_that_the_program_forgot_has_no_interval_any_more() -> None:
    offsets = taken(peer(silent=True), event("forgotten"))
    assert shown(offsets)[1].split()[:3] == ["there", "-", "-"]


def test_machines_of_one_name_are_told_apart_by_their_boots() -> None:
    lines = shown(taken(peer(), peer(boot="3" * 16)))
    assert [line.split()[:2] for line in lines[1:3]] == [["there", "2222"], ["there", "3333"]]


def test_a_clock_that_is_wrong_on_purpose_is_named() -> None:
    offsets = taken(peer())
    offsets.start["test_clock"] = True
    assert "RCLRT_TEST_CLOCK" in shown(offsets)[2]


def test_a_line_that_is_none_of_the_program_fails() -> None:
    for text in ("{", "[]", '{"peer": "x"}', '{"rclrt_clock": 2}'):
        with pytest.raises(RunFailed):
            taken().take(text)


def test_the_picture_has_a_band_per_host_that_ends_where_nothing_is_known() -> None:
    times = [*(number / 10 for number in range(10)), *(20 + number / 10 for number in range(10))]
    offsets = taken(*(peer(at_s) for at_s in times), peer(1.0, peer="\x1b<b>"))
    picture = ElementTree.fromstring(offsets_picture(offsets))
    bands = [each for each in picture if each.tag.endswith("polygon")]
    assert [len(each.get("points", "").split()) for each in bands] == [2, 20, 20]
    set_between = taken(peer(1.0), peer(2.0), peer(3.0, 39.91, steps=3), peer(4.0, 39.91, steps=3))
    picture = ElementTree.fromstring(offsets_picture(set_between))
    bands = [each for each in picture if each.tag.endswith("polygon")]
    assert [len(each.get("points", "").split()) for each in bands] == [4, 4]
    assert ElementTree.fromstring(offsets_picture(taken())) is not None


@pytest.mark.parametrize("low_ms", [-1.77e12, -600_000.0, 37_000.123, 0.0])
def test_a_picture_of_large_offsets_has_an_axis_that_can_be_read(low_ms: float) -> None:
    low_ns = round(low_ms * 1e6)
    offsets = taken(*(peer(each, low_ms, high_ns=low_ns + 50) for each in (1.0, 2.0)))
    picture = ElementTree.fromstring(offsets_picture(offsets))
    ends = [each.text for each in picture if each.get("text-anchor") == "end"]
    assert len(set(ends)) == len(ends) > 1


def test_the_command_prints_the_table_and_writes_a_document_and_a_picture(
    writes: Path, rclrt: Rclrt
) -> None:
    write_lines(writes, event("appeared"), peer(1.0), peer(2.0, 39.95))
    out, plot = writes / "clock.json", writes / "clock.svg"
    answer = rclrt("clock", "--seconds", "2", "--host", "here", "--out", out, "--plot", plot)
    assert answer.code == 0, answer.err
    assert answer.err == "rclrt: there sends pings\n"
    assert answer.out.splitlines()[1].split()[:3] == ["there", "+39.950", "+40.350"]
    assert (writes / "arguments").read_text() == "--host here --seconds 2.0\n"
    document = json.loads(out.read_text())
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert [sample[2] for sample in document["peers"][0]["samples"]] == [39_900_000, 39_950_000]
    assert "there: offset in ms" in plot.read_text()


def test_the_document_on_standard_output_is_the_same(writes: Path, rclrt: Rclrt) -> None:
    write_lines(writes, peer(low_ms=None), event("clock_set", "here", by_ns=5))
    answer = rclrt("clock", "--json")
    assert answer.code == 1  # nothing is known
    assert "messages pass in one direction only" in answer.err
    jsonschema.validate(answer.json, json.loads(SCHEMA.read_text()))


def test_no_other_host_is_exit_code_1_with_what_to_check(writes: Path, rclrt: Rclrt) -> None:
    write_lines(writes)
    answer = rclrt("clock")
    assert answer.code == 1
    assert "start `rclrt clock` on the other hosts too" in answer.err


@pytest.mark.parametrize(("code", "expected"), [("2", 2), ("1", 1), ("3", 1)])
def test_a_program_that_fails_has_its_exit_code(
    writes: Path, rclrt: Rclrt, code: str, expected: int
) -> None:
    write_lines(writes, peer())
    (writes / "code").write_text(code)
    answer = rclrt("clock", "--out", writes / "clock.json")
    assert answer.code == expected
    document = json.loads((writes / "clock.json").read_text())
    assert document["failure"]  # what was measured until then is kept
    assert document["peers"][0]["samples"]
    write_lines(writes)
    assert rclrt("clock", "--out", writes / "other.json").code == expected
    assert not (writes / "other.json").exists()


def test_the_live_table_keeps_the_newest_events(
    writes: Path, rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(writes, REPORT, event("appeared"), peer(), REPORT)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    frames = rclrt("clock").out.split("\x1b[H\x1b[2J")
    assert "none yet" in frames[1]
    assert frames[2].splitlines()[-1] != ""
    assert "there sends pings" in frames[2]


def test_two_files_must_be_two(writes: Path, rclrt: Rclrt) -> None:
    answer = rclrt("clock", "--out", writes / "a.svg", "--plot", writes / "a.svg")
    assert answer.code == 2
    assert "name the same file" in answer.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--plot", "clock.png"), "--plot clock.png: pictures are SVG; expected a name that ends"),
        (("--plot", "clock"), "--plot clock: pictures are SVG"),
        (("--seconds", "0.005"), "--seconds 0.005: expected at least 0.01"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(
    writes: Path, rclrt: Rclrt, arguments: tuple[str, str], expected: str
) -> None:
    answer = rclrt("clock", *arguments)
    assert answer.code == 2
    assert expected in answer.err
    assert not (writes / "arguments").exists()


def test_a_file_that_cannot_be_written_is_refused_first(writes: Path, rclrt: Rclrt) -> None:
    answer = rclrt("clock", "--out", writes / "missing/clock.json")
    assert answer.code == 2
    assert not (writes / "arguments").exists()


def test_the_program_refuses_options_and_a_topic_that_is_none(program: Path) -> None:
    for wrong in (["--host", "a b"], ["--period", "1"], ["--topic", "no topic"]):
        done = subprocess.run([program, *wrong], capture_output=True, text=True)
        assert done.returncode == 2, wrong
        assert wrong[1] in done.stderr
    environment = {"RCLRT_TEST_CLOCK": "offset=40"}
    done = subprocess.run([program], capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "expected offset_ms=N" in done.stderr
