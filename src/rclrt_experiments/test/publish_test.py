# SPDX-License-Identifier: Apache-2.0
"""bench/publish_thesis.py and publish_sampling.py, which make pages of the documentation."""

from __future__ import annotations

import json
import re
import tarfile
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from rclrt_experiments.claims import CLAIMS
from rclrt_py.testing.command import Command

PUBLISH = Path(__file__).resolve().parents[3] / "bench" / "publish_thesis.py"
PROVED = r'"missed":0(,"bound_ms":[0-9.]+,"verdict":"proved")'
"""Pattern of a chain-run in a journal."""


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Loads bench/publish_thesis.py, which then writes below tmp_path."""
    spec = spec_from_file_location("publish_thesis", PUBLISH)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(module, "PAGE", tmp_path / "thesis.md")
    monkeypatch.setattr(module, "FIGURES", tmp_path / "figures")
    return module


@pytest.fixture
def out(experiment: Command, tmp_path: Path) -> Path:
    """Returns a complete output directory."""
    path = tmp_path / "out"
    arguments = ("overhead", "--simulate", "--trials", 2, "--seconds", 2, "--out", path)
    assert experiment(*arguments).returncode == 0
    return path


def test_the_documentation_is_made_of_complete_directories_only(
    out: Path, tmp_path: Path, publish: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    others = publish.FIGURES / "of_another_page.svg"
    publish.FIGURES.mkdir()
    others.write_text("")
    (publish.FIGURES / "simulated_before.svg").write_text("")
    assert publish.main([str(out)]) == 0
    page = publish.PAGE.read_text()
    assert "`rclrt experiment overhead --simulate --trials 2 --seconds 2 --out DIR`" in page
    assert "Not simulated here: `utilisation`, `chain-length`, " in page
    assert "Not run on ROS 2 here: `overhead`, `utilisation`, " in page
    first = CLAIMS[0]
    assert f"| {first.section} | {first.text} | not comparable | not comparable | - | - |" in page
    pictures = re.findall(r"!\[.*\]\((.*)\)", page)
    assert pictures
    assert {tmp_path / name for name in pictures} == set(publish.FIGURES.iterdir()) - {others}
    assert others.exists()

    journal = out / "done.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))
    before = page
    assert publish.main([str(out)]) == 2
    assert "1 units are missing; complete them by rclrt experiment" in capsys.readouterr().err
    assert publish.PAGE.read_text() == before
    journal.unlink()
    assert publish.main([str(out)]) == 2
    assert "has no done.jsonl; keep it beside experiment.json" in capsys.readouterr().err
    assert publish.main([]) == 2


def test_an_archive_is_as_good_as_its_directory(
    out: Path, tmp_path: Path, publish: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish.main([str(out)]) == 0
    page = publish.PAGE.read_text()
    archive = tmp_path / "out.tar.gz"
    with tarfile.open(archive, "w:gz") as stream:
        stream.add(out, ".")
    assert publish.main([str(archive)]) == 0
    assert publish.PAGE.read_text() == page
    assert publish.main([str(archive), str(out)]) == 2
    assert "overhead is in two of the directories" in capsys.readouterr().err
    with tarfile.open(tmp_path / "twice.tar.xz", "w:xz") as stream:
        stream.add(out, "one")
        stream.add(out, "other")
    whole = (tmp_path / "twice.tar.xz").read_bytes()
    (tmp_path / "short.tar.xz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "none.tar.xz").write_bytes(b"no archive")
    for name, what in (
        ("twice", "has two done.jsonl; expected"),
        ("short", "is no archive of a directory"),
        ("none", "is no archive of a directory"),
    ):
        assert publish.main([str(tmp_path / f"{name}.tar.xz")]) == 2
        assert f"{name}.tar.xz: {what}" in capsys.readouterr().err


def test_a_proved_chain_that_missed_is_told_by_the_exit_code(
    out: Path, publish: ModuleType
) -> None:
    journal = out / "done.jsonl"
    text = journal.read_text()
    late = re.sub(PROVED, r'"missed":1\1', text, count=1)
    assert late != text
    journal.write_text(late)
    assert publish.main([str(out)]) == 3
    said = "chain-runs with a proved deadline missed it or took longer than its bound, the first: "
    assert said in publish.PAGE.read_text()


def test_the_overheads_that_bounds_assume_are_kept(
    out: Path, publish: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = out / "experiment.json"
    other = '"overheads": {"file": "none.json", "sha256": "0"}'
    plan.write_text(plan.read_text().replace('"overheads": {}', other))
    assert publish.main([str(out)]) == 2
    assert "was made with another none.json" in capsys.readouterr().err


def test_what_the_thesis_measured_stands_beside_what_was_calibrated(publish: ModuleType) -> None:
    text = "\n".join(publish.as_the_thesis_measured({"file": "overheads.json"}))
    kept = json.loads((publish.KEPT / "overheads.json").read_text())
    for executor, part in (
        ("wait_set", "polling_us"),
        ("producer_consumer", "scheduler_us"),
        ("thread_dispatch", "scheduler_us"),
    ):
        own = kept["executors"][executor][part]
        assert f"| {own['p50']:.1f} | {own['p99']:.1f} | {own['max_undisturbed']:.1f} |" in text


def test_a_plan_of_another_version_is_refused(
    out: Path, publish: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = out / "experiment.json"
    plan.write_text(plan.read_text().replace('"rclrt_experiment": 2', '"rclrt_experiment": 1'))
    assert publish.main([str(out)]) == 2
    assert "expected format version 2" in capsys.readouterr().err


def test_the_page_on_sampled_chains_is_made_of_their_experiment_only(
    experiment: Command,
    out: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(str(PUBLISH.parent))
    module, places = import_module("publish_sampling"), import_module("results_page")
    figures = tmp_path / "figures"
    figures.mkdir()
    for owner in (module, places):
        monkeypatch.setattr(owner, "RESULTS", tmp_path)
        monkeypatch.setattr(owner, "FIGURES", figures)
    page = tmp_path / "sampling.md"
    marks = [
        mark("the experiment", *more)
        for mark, more in ((places.begin, ["publish_sampling.py"]), (places.end, []))
    ]
    page.write_text("Before.\n" + "\n\n".join(marks) + "\nBehind.\n")
    sampled = tmp_path / "sampled"
    arguments = ("--simulate", "--trials", 1, "--seconds", 1, "--out", sampled)
    assert experiment("sampling", *arguments).returncode == 0
    assert module.main([str(sampled)]) == 0
    text = page.read_text()
    assert text.startswith("Before.\n")
    assert text.endswith("Behind.\n")
    assert "`rclrt experiment sampling --simulate --trials 1 --seconds 1 --out DIR`" in text
    assert "| preemptive, LET, bound | 4.00 (4.00) | 6.00 (6.00) |" in text
    pictures = re.findall(r"!\[.*\]\((.*)\)", text)
    assert {tmp_path / name for name in pictures} == set(figures.iterdir())
    assert len(pictures) == 8
    assert module.main([str(out)]) == 2
    assert "expected the results of `rclrt experiment sampling`" in capsys.readouterr().err
    assert page.read_text() == text
    assert module.main([]) == 2
