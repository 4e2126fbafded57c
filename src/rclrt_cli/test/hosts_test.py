# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze` of an application on two computers: its links, and clocks that differ."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rclrt_cli.main import main

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "two_hosts" / "two_hosts.yaml"
PAGE = ROOT / "docs" / "how-to" / "two-computers.md"


@pytest.fixture(autouse=True)
def in_the_repository() -> None:
    if not EXAMPLE.exists():
        pytest.skip("the package was taken out of its repository")


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(EXAMPLE), "--dispatch-us", "0"]) == 0
    printed = capsys.readouterr().out
    begin = PAGE.read_text().index("$ ./rclrt analyze examples/two_hosts/two_hosts.yaml")
    shown = PAGE.read_text()[begin:].split("```")[0].splitlines()[1:]
    shown = shown[: shown.index("...")] if "..." in shown else shown
    assert printed.splitlines()[: len(shown)] == shown


def test_the_document_has_the_links_and_the_error_of_the_clocks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["analyze", str(EXAMPLE), "--json", "--no-search"]) == 0
    document = json.loads(capsys.readouterr().out)
    forth, back = document["links"]
    assert (forth["link"], forth["sender"], forth["receiver"]) == ("cable", "left", "right")
    assert forth["delay_ms"] > back["delay_ms"] > 0.1
    assert forth["backlog_bytes"] > 33_000
    assert 0.2 < forth["load"] < 0.3
    obstacle, display, drive = document["chains"]
    assert obstacle["stamp_error_ms"] == 1
    assert "stamp_error_ms" not in display  # it ends on the host on which it starts
    assert "stamp_error_ms" not in drive
    link = next(part for part in obstacle["why"] if part["kind"] == "link")
    assert (link["callback"], link["total_ms"]) == ("plan", forth["delay_ms"])
    parts = sum(part["total_ms"] for part in obstacle["why"]) - obstacle["waited_ms"]
    assert parts == pytest.approx(obstacle["bound_ms"])


def test_how_late_a_shaper_sends_is_an_assumption_where_there_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for app, has_shaper in ((EXAMPLE, True), (EXAMPLE.with_name("app.yaml"), False)):
        main(["analyze", str(app), "--dispatch-us", "0", "--no-search"])
        printed = capsys.readouterr().out
        assert "link-queue: " in printed
        assert ("link-shaper: a shaper sends a packet at most access_ms" in printed) == has_shaper


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["analyze", "--test", "picas"], "--test picas: is for applications on one host"),
        (["analyze", "--test", "thesis"], "--test thesis: is for applications on one host"),
        (["assign"], "has hosts, and assign knows the CPUs of one"),
    ],
)
def test_what_knows_one_host_only_refuses_several(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = options
    assert main([command, str(EXAMPLE), *rest]) == 2
    assert said in capsys.readouterr().err


def test_a_saturated_link_is_an_unbounded_backlog_and_no_yes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(EXAMPLE.read_text().replace("rate_kbit: 20000", "rate_kbit: 4000"))
    assert main(["analyze", str(file)]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "link 'cable' from 'left' to 'right' has an unbounded backlog" in printed
    assert "needs 139 % of its rate ('obstacles' 133 %, cross traffic 5 %)" in printed
    assert "a shaper's rate_kbit of at least" in printed
    assert re.search(r"cable: left to right 138\.\d - unbounded", printed)
    assert "refuted misses in simulation" in printed
