# SPDX-License-Identifier: Apache-2.0
"""`rclrt latency` and its program, measuring for moments. No test checks a latency."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from rclrt_py.processes.realtime import fifo_permitted
from rclrt_py.testing.command import Command
from rclrt_py.testing.waiting import GENEROUS_S

Called = Callable[..., int]
SCHEMA = Path(__file__).resolve().parents[3] / "schemas/latency.schema.json"
LOOPS = ("--loops", "20", "--interval", "200")
CPU = str(min(os.sched_getaffinity(0)))
realtime = pytest.mark.skipif(fifo_permitted() is not None, reason="SCHED_FIFO is not permitted")


def test_every_thread_makes_its_loops(run: Command) -> None:
    done = run("--policy", "other", *LOOPS)
    document = json.loads(done.stdout)
    assert done.returncode == 0
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    (series,) = document["series"]
    assert [thread["cpu"] for thread in series["threads"]] == document["cpus"]
    for thread in series["threads"]:
        assert thread["overall"]["n"] == 20
        assert sum(count for _, count in thread["histogram"]) == 20
        figures = thread["overall"]
        assert 0 <= figures["min"] <= figures["median"] <= figures["p99"] <= figures["max"]
        undisturbed = thread["undisturbed"]["n"] if thread["undisturbed"] else 0
        assert undisturbed + thread["disturbed"] == 20


@realtime
def test_policies_take_turns_and_rounds_add_up(run: Command) -> None:
    # SCHED_DEADLINE may be refused although SCHED_FIFO is permitted: to a thread that lacks a CPU.
    alone = run("--policy", "deadline", "--stalls", "none", *LOOPS)
    denied = "or measure what is permitted" in alone.stderr
    assert denied or alone.returncode == 0, alone.stderr
    policies = ["other", "fifo", "rr", *([] if denied else ["deadline"])]
    done = run("--policy", ",".join(policies), "--rounds", "2", "--stalls", "none", *LOOPS)
    document = json.loads(done.stdout)
    assert [series["policy"] for series in document["series"]] == policies
    counts = {thread["overall"]["n"] for each in document["series"] for thread in each["threads"]}
    assert counts == {40}
    assert document["series"][1]["scheduling"] == "SCHED_FIFO priority 80"
    if not denied:
        assert document["series"][3]["threads"][0]["cpu"] is None


@realtime
def test_a_threshold_stops_the_measurement_with_a_trace(
    installed: Path, latency: Called, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert latency("--break-above", "1", "--cpus", CPU, "--dump-directory", tmp_path) == 1
    assert f"fifo on CPU {CPU} woke " in capfd.readouterr().out
    (dump,) = tmp_path.glob("*.pftrace")
    # The view of a trace reads what was written.
    assert latency(dump, "--track", f"fifo cpu{CPU}", "--slice", "Wakeup") == 0
    assert "n " in capfd.readouterr().out


@pytest.mark.parametrize("method", ["probe", "spin"])
def test_stalls_that_are_seen_disturb_no_more_than_all(run: Command, method: str) -> None:
    done = run("--policy", "other", "--stalls", method, "--stall-threshold", "10", *LOOPS)
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert document["stalls"]["method"] == method
    assert (document["stalls"]["watched"] is not None) == (method == "spin")
    for thread in document["series"][0]["threads"]:
        assert thread["disturbed"] <= thread["overall"]["n"]
        assert (thread["stalls"]["count"] == 0) == (thread["stalls"]["largest"] == 0)


def test_a_histogram_log_holds_every_sample(run: Command, tmp_path: Path) -> None:
    pyhdr = pytest.importorskip("hdrh.log")
    path = tmp_path / "made.hlog"
    assert run("--policy", "other", "--cpus", CPU, "--histogram-log", path, *LOOPS).returncode == 0
    reader = pyhdr.HistogramLogReader(str(path), pyhdr.HdrHistogram(1, 3_600_000_000_000, 3))
    total = 0
    while (interval := reader.get_next_interval_histogram()) is not None:
        total += interval.get_total_count()
    assert total == 20
    assert list(tmp_path.iterdir()) == [path]


def test_a_histogram_log_that_is_no_file_is_refused_and_stays_what_it_is(
    program: Path, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    refused = subprocess.run(
        [program, "--policy", "other", "--cpus", CPU, "--histogram-log", fifo, *LOOPS],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (refused.returncode, refused.stdout) == (2, "")
    said = f"--histogram-log: cannot write {fifo}: is a FIFO; expected a regular file or"
    assert said in refused.stderr
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.parametrize("option", ["--plot", "--json"])
def test_the_trace_that_is_shown_is_not_replaced(
    latency: Called, tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    trace = tmp_path / "run.pftrace"
    trace.write_bytes(b"kept")
    assert latency(trace, option, trace) == 2
    assert f"{option} {trace}: would replace {trace}, which" in capfd.readouterr().err
    assert trace.read_bytes() == b"kept"


def test_the_command_writes_table_picture_and_figures(
    installed: Path, latency: Called, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plot, figures = tmp_path / "made.svg", tmp_path / "made.json"
    options = ("--compare", "other,other", "--plot", plot, "--json", figures, *LOOPS)
    assert latency(*options) == 2  # the program refuses the same policy twice
    assert "each once" in capfd.readouterr().err
    assert not plot.exists()
    options = ("--policy", "other", "--plot", plot, "--json", figures, *LOOPS)
    assert latency(*options) == 0
    rows = [line for line in capfd.readouterr().out.splitlines() if line.startswith("other ")]
    document = json.loads(figures.read_text())
    assert len(rows) == len(document["cpus"])
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")


def test_load_ends_with_the_program(program: Path) -> None:
    child = subprocess.Popen(
        [program, "--policy", "other", "--cpus", CPU, "--stress", *LOOPS],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    text, _ = child.communicate(timeout=GENEROUS_S)
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)  # no process of its session is left
    document = json.loads(text)
    assert document["stress"] is True
    assert document["series"][0]["threads"][0]["overall"]["n"] == 20


def test_an_interrupted_measurement_shows_what_it_has(program: Path) -> None:
    child = subprocess.Popen(
        [program, "--policy", "other", "--seconds", "3600", "--live"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    child.stderr.read(1)  # the first live line
    child.send_signal(signal.SIGINT)
    text, _ = child.communicate(timeout=GENEROUS_S)
    assert child.returncode == 130
    document = json.loads(text)
    assert document["interrupted"] is True
    assert document["series"][0]["threads"][0]["overall"]["n"] > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--priority", "0"), "from 1 to 99"),
        (("--cpus", "4000"), "CPU 4000 cannot be used by this process"),
        (("--compare", "fifo"), "expected two policies"),
        (("--compare", "fifo,other", "--policy", "rr"), "one of the two"),
        (("--track", "a"), "select from a Perfetto trace"),
        (("--stress", "--stalls", "spin"), "expected --stalls probe"),
        (("--json", "/nowhere/x"), "is no directory"),
        (("nowhere.pftrace",), "nowhere.pftrace: cannot be read"),
        (("nowhere.pftrace", "--seconds", "3"), "--seconds is for a measurement"),
    ],
)
def test_wrong_options_say_what_was_expected(
    installed: Path,
    latency: Called,
    capfd: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    said: str,
) -> None:
    assert latency(*options) == 2
    assert said in capfd.readouterr().err


def test_pipes_and_devices_are_neither_read_nor_replaced(
    installed: Path, latency: Called, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert latency(str(pipe)) == 2
    assert "is not a file; expected a Perfetto trace" in capfd.readouterr().err
    assert latency("--json", str(pipe), "--seconds", "1") == 2
    assert "is a device or a pipe" in capfd.readouterr().err
    assert pipe.is_fifo()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take its own permission away")
def test_without_permission_the_fix_is_named_and_other_works(program: Path) -> None:
    command = [
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all",
        "--inh-caps=-all", "prlimit", "--rtprio=0:0", "--memlock=65536:65536",
        str(program), "--cpus", CPU, *LOOPS,
    ]  # fmt: skip
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "limits.d" in refused.stderr
    assert "--policy other" in refused.stderr
    done = subprocess.run([*command, "--policy", "other"], stdout=subprocess.PIPE, check=False)
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["stalls"]["valid"] is False
    assert any("lock memory" in note for note in document["notes"])
