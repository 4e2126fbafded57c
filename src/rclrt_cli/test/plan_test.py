# SPDX-License-Identifier: Apache-2.0
"""`rclrt plan`: how it starts and ends. The tests of its page are rclrt_py/test/plan_*_test.py."""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rclrt_cli.commands.plan import add_arguments, files_to_write
from rclrt_py.errors import BadInput
from rclrt_py.options import overheads
from rclrt_py.plan.session import Session
from rclrt_py.plan.written import Output
from rclrt_py.testing.command import Rclrt, command, environment
from rclrt_py.testing.waiting import GENEROUS_S, wait_for
from sources import ROOT

EXAMPLE = ROOT / "examples" / "autonomous_vehicle" / "app.yaml"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(EXAMPLE.read_text())
    return path


@pytest.fixture
def plan(app: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, with its page's address."""
    process = subprocess.Popen(
        command("plan", str(app), "--no-browser"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    yield process, process.stdout.readline().strip()
    process.kill()
    process.communicate()


def children(pid: int) -> list[int]:
    return [
        int(each)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for each in (task / "children").read_text().split()
    ]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_its_page_until_it_is_told_to_end(
    plan: tuple[subprocess.Popen[str], str], app: Path, number: signal.Signals
) -> None:
    process, address = plan
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address, timeout=GENEROUS_S) as page:
        assert b"rclrt plan" in page.read()
    process.send_signal(number)
    _, said = process.communicate(timeout=GENEROUS_S)
    assert (process.returncode, said) == (0, "")
    assert app.read_text() == EXAMPLE.read_text()


def test_it_opens_the_page_in_the_browser(app: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >{opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    with subprocess.Popen(
        command("plan", str(app)),
        env={**environment(), "BROWSER": str(browser)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        wait_for(opened.is_file)
        file = opened.read_text().strip()
        assert address.strip() not in file  # other users can read command lines
        leads = Path(file.removeprefix("file://"))
        assert f"url={address.strip()}" in leads.read_text()
        assert leads.parent.stat().st_mode & 0o077 == 0
        process.terminate()
    assert not leads.parent.exists()


def test_its_analysis_ends_with_it_even_if_it_is_killed(
    plan: tuple[subprocess.Popen[str], str],
) -> None:
    process, _ = plan
    workers = children(process.pid)
    assert workers
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: not any(map(alive, workers)))


@pytest.mark.parametrize("stated", [{}, {"dispatch_us": 90_000, "timer_jitter_us": 500_000}])
def test_the_page_shows_what_analyze_says_of_the_file_that_it_writes(
    rclrt: Rclrt, app: Path, stated: dict[str, int]
) -> None:
    session = Session(app, [Output("app", app)], {**dict.fromkeys(overheads.OPTIONS), **stated})
    session.open("preemptive")
    try:
        version = session.state()["version"]
        changes = [
            {"op": "set", "path": ["callbacks", "identify", "wcet_ms"], "value": "7.25"},
            {"op": "executor", "name": "second", "cpus": [2]},
            {"op": "move", "callback": "build_map", "executor": "second"},
        ]
        version = session.change(version, changes, "x")["version"]
        state = session.save(version, "app", session.outcome(version, "app")["seen"])
    finally:
        session.worker.stop()
    options = [
        word
        for name, value in stated.items()
        for word in (f"--{name.replace('_', '-')}", str(value / 1000))
    ]
    answer = rclrt("analyze", app, "--json", "--no-search", *options)
    assert json.loads(answer.out) == state["answer"]["analysis"]


def test_without_a_file_it_offers_the_examples(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("plan", "--no-browser"),
        env={**environment(), "RCLRT_ROOT": str(ROOT)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        headers = {"Content-Type": "application/json"}

        def ask(method: str, body: dict[str, str]) -> Any:
            request = urllib.request.Request(address + method, json.dumps(body).encode(), headers)
            with urllib.request.urlopen(request, timeout=GENEROUS_S) as answer:
                return json.load(answer)

        found = [each["name"] for each in ask("state", {})["examples"]]
        assert found == sorted(each.parent.name for each in ROOT.glob("examples/*/app.yaml"))
        opened = ask("open", {"example": "autonomous_vehicle"})
        assert opened["answer"]["analysis"]["feasible"] is True
        process.terminate()
        assert process.wait(timeout=GENEROUS_S) == 0
    assert list(tmp_path.iterdir()) == []


def test_an_example_is_never_a_file_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RCLRT_ROOT", str(ROOT))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for bundled in (ROOT / "none", tmp_path):  # of sources, and of an installed package
        monkeypatch.setattr("rclrt_py.plan.examples.BUNDLED", bundled)
        with pytest.raises(BadInput, match=r"--out .* is a bundled example; name another file"):
            files_to_write(parser.parse_args(["--out", str(EXAMPLE)]))
    bundle = tmp_path / "bundle"
    app = bundle / "car" / "app.yaml"
    app.parent.mkdir(parents=True)
    app.write_text(EXAMPLE.read_text())
    monkeypatch.setattr("rclrt_py.plan.examples.BUNDLED", bundle)
    assert files_to_write(parser.parse_args([str(app)])) == []
    mine = tmp_path / "mine.yaml"
    (output,) = files_to_write(parser.parse_args([str(app), "--out", str(mine)]))
    assert output.path == mine


def test_without_a_file_and_without_examples_it_asks_for_a_file(
    rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RCLRT_ROOT", raising=False)
    monkeypatch.setattr("rclrt_py.plan.examples.BUNDLED", ROOT / "none")
    answer = rclrt("plan", "--no-browser")
    assert (answer.code, answer.err) == (
        2,
        "rclrt: plan: no APP, and no examples are installed; expected an app.yaml\n",
    )


def test_what_cannot_be_used_is_named_before_a_page_is_served(
    rclrt: Rclrt, app: Path, tmp_path: Path
) -> None:
    broken, new = tmp_path / "broken.yaml", tmp_path / "new.yaml"
    broken.write_text(app.read_text().replace("wcet_ms: 16", "wcet_ms: long"))
    for arguments, said in (
        ([broken], "broken.yaml:50:"),
        ([tmp_path / "none.yaml"], "No such file"),
        ([tmp_path], f"is a directory; expected an app.yaml\n  fix: rclrt model {tmp_path} -o"),
        ([app, "--out", tmp_path], "--out"),
        ([app, "--robot-out", app], f"--robot-out {app}: would replace {app}, which this command"),
        ([app, "--out", new, "--robot-out", new], "two options name the same file"),
        ([app, "--results", tmp_path / "none"], "no such directory"),
        (["--results", tmp_path], "name this application as APP"),
        ([app, "--port", "x"], "is no port"),
        ([app, "--executor", "none"], "unknown executor"),
    ):
        answer = rclrt("plan", *arguments, "--no-browser")
        assert answer.code == 2
        assert said in answer.err


def test_a_port_that_is_taken_is_named(rclrt: Rclrt, app: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = rclrt("plan", app, "--no-browser", "--port", port)
        assert answer.code == 2
        assert f"--port {port}: cannot be used (Address already in use)" in answer.err
