# SPDX-License-Identifier: Apache-2.0
"""The page: metrics by hand, claims by their rows, and what a browser makes of it."""

from __future__ import annotations

import re
import tarfile
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from conftest import Command
from rclrt_experiments.claims import CLAIMS
from rclrt_experiments.figures import Box, tick_step
from rclrt_experiments.metrics import Results, Sample
from rclrt_experiments.page import bounds_table
from rclrt_experiments.published import (
    FEWEST_TRIALS,
    LENGTHS,
    LEVELS,
    PC,
    STANDARD,
    TABLE_7_4,
    TABLE_7_6,
    TD,
    Claim,
    Evidence,
    falls,
    judge,
    rises,
)
from rclrt_experiments.rows import OverheadRow, Row
from rclrt_experiments.unit import launches, waits

PUBLISH = Path(__file__).resolve().parents[3] / "bench" / "publish_thesis.py"
ROW = Row("utilisation", TD, "10 %", 1, 1, "chain0", 100.0, 0.1, 10, 10.0, 20.0, 50.0, 0.5, 0.4, 0,
          None, "unknown")  # fmt: skip


def claim_of(text: str) -> Claim:
    (found,) = (claim for claim in CLAIMS if text in claim.text)
    return found


def evidence_of(rows: list[Row], overheads: list[OverheadRow] | None = None) -> Evidence:
    return Evidence(Results(rows), overheads or [], simulated=overheads is None)


def as_published(missed: dict[str, list[int]]) -> list[Row]:
    """Rows of 50 trials of five chains with so many chain-runs that missed."""
    rows = []
    for executor, counts in missed.items():
        for label, count in zip(LEVELS, counts, strict=True):
            for number in range(250):
                rows.append(
                    replace(ROW, executor=executor, varied=label, trial=number // 5 + 1,
                            chain=f"chain{number % 5}", missed=int(number < count))
                )  # fmt: skip
    return rows


def test_the_metrics_are_those_of_the_thesis() -> None:
    # Two trials of two chains: section 7.1.1 by hand.
    rows = [
        replace(ROW, trial=1, chain="chain0", normalised_worst=0.5, jitter=0.1, missed=0),
        replace(ROW, trial=1, chain="chain1", normalised_worst=1.5, jitter=0.9, missed=3),
        replace(ROW, trial=2, chain="chain0", normalised_worst=0.7, jitter=0.2, missed=0),
        replace(ROW, trial=2, chain="chain1", normalised_worst=1.2, jitter=0.4, missed=1),
    ]
    sample = Sample(rows)
    assert sample.trials == 2
    assert sample.misses == 2  # chain-runs, however often each missed
    assert sample.mean_misses is not None
    assert sample.mean_misses.value == 1.0
    assert sample.mean_jitter is not None
    assert sample.mean_jitter.value == pytest.approx(0.4)
    assert sample.median_worst is not None
    assert sample.median_worst.value == pytest.approx(0.95)
    for estimate in (sample.mean_jitter, sample.median_worst):
        assert estimate.low <= estimate.value <= estimate.high


def test_an_interval_of_equal_trials_is_a_point_and_none_of_nothing() -> None:
    sample = Sample([replace(ROW, trial=n) for n in range(1, 9)])
    assert sample.mean_jitter is not None
    assert sample.mean_jitter.low == pytest.approx(0.4)
    assert sample.mean_jitter.high == pytest.approx(0.4)
    assert Sample([]).mean_jitter is None


def test_the_published_tables_bear_their_own_claims_out() -> None:
    evidence = evidence_of(as_published({name: list(row) for name, row in TABLE_7_4.items()}))
    for text in ("misses at least as often", "misses nothing below", "at 10 % already"):
        judged = judge(claim_of(text), evidence)
        assert judged.verdict == "reproduced", judged
    rows = [
        replace(ROW, experiment="chain-length", executor=name, varied=label, trial=trial,
                normalised_worst=value)
        for name, values in TABLE_7_6.items()
        for label, value in zip(LENGTHS, values, strict=True)
        for trial in range(1, 6)
    ]  # fmt: skip
    for text in ("has the highest median", "of PC and TD fall", "of standard does not fall"):
        assert judge(claim_of(text), evidence_of(rows)).verdict == "reproduced"


def test_a_claim_that_does_not_come_out_says_what_was_observed() -> None:
    swapped = {
        STANDARD: list(TABLE_7_4[TD]), PC: list(TABLE_7_4[PC]), TD: list(TABLE_7_4[STANDARD]),
    }  # fmt: skip
    judged = judge(claim_of("misses at least as often"), evidence_of(as_published(swapped)))
    assert judged.verdict == "not reproduced"
    assert "TD 5 13 17 36 40 57 70 96 103" in judged.observed


def test_too_few_trials_are_compared_with_nothing() -> None:
    rows = [replace(ROW, trial=n) for n in range(1, FEWEST_TRIALS)]
    verdicts = {judge(claim, evidence_of(rows)).verdict for claim in CLAIMS}
    assert verdicts == {"not comparable"}


def test_overheads_are_judged_of_runs_only() -> None:
    claim = claim_of("take less time than standard")
    rows = [
        OverheadRow("overhead", name, "length 4, 60 %", trial, trial, "launch", 100,
                    1.0, 2.0, middle, 50.0, 60.0, 70.0)
        for name, middle in ((STANDARD, 40.0), (PC, 10.0), (TD, 20.0))
        for trial in range(1, 6)
    ]  # fmt: skip
    assert judge(claim, evidence_of([ROW], rows)).verdict == "reproduced"
    assert judge(claim, evidence_of([ROW])).verdict == "not comparable"


def test_trends() -> None:
    assert rises([1, 2, 2, 4])
    assert rises([0, 2, 1, 3, 4])
    assert not rises([3, 1, 2, 1])
    assert falls([3, 2, 2, 1])
    assert not falls([1, 1, 1])


def test_a_launch_counts_from_when_nothing_earlier_ran() -> None:
    # Callback, ready, start, end: the second waits for the first, the third for nobody.
    instances = [(0, 0, 5, 20), (1, 3, 26, 40), (2, 100, 107, 120)]
    assert waits(instances) == [5, 23, 7]
    assert launches(instances) == [5, 6, 7]


def test_bounds_are_counted_and_what_is_above_one_is_shown() -> None:
    rows = [
        replace(ROW, verdict="proved", bound_ms=60.0),
        replace(ROW, verdict="proved", bound_ms=40.0, missed=1, trial=2),
        replace(ROW, verdict="conditional", bound_ms=60.0),
    ]
    heads, (row,) = bounds_table(rows)
    found = dict(zip(heads, row, strict=True))
    assert found["proved"] == "2 (67%)"
    assert found["proved and missed"] == "1"
    assert found["above the bound"] == "1"
    assert found["proved and missed, undisturbed by the host"] == "1"
    _, (row,) = bounds_table(rows, {("utilisation", TD, "10 %", "2", "1")})
    assert row[-1] == "0"


def test_boxes_are_of_values_that_were_measured() -> None:
    box = Box.of([float(n) for n in range(1, 101)])
    assert (box.low, box.first, box.middle, box.third, box.high) == (2, 25, 50, 75, 98)
    assert (box.best, box.worst) == (1, 100)
    assert [tick_step(top) for top in (0.7, 1.0, 5.0, 70.0)] == [0.1, 0.2, 1.0, 10.0]


def test_the_page_stands_alone_and_has_what_the_rows_say(
    experiment: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = experiment("utilisation", "--simulate", "--trials", 5, "--seconds", 5, "--out", out)
    assert done.returncode == 0, done.stderr
    page = (out / "report.html").read_text()
    assert "script" not in page
    assert not re.search(r'(src|href)="', page)
    assert "Chain-runs that missed a deadline (table 7.4)" in page
    assert "<td>5</td><td>13</td><td>17</td><td>36</td>" in page  # published
    figures = sorted((out / "figures").glob("*.svg"))
    assert [path.stem for path in figures] == [
        "utilisation_jitter", "utilisation_misses", "utilisation_worst",
    ]  # fmt: skip
    diamonds = {path.stem: path.read_text().count("<polygon") for path in figures}
    assert diamonds["utilisation_misses"] == sum(map(len, TABLE_7_4.values()))
    assert diamonds["utilisation_jitter"] == diamonds["utilisation_worst"] == 0
    assert "Diamonds: published means." in page
    for path in figures:
        ElementTree.fromstring(path.read_text())
        assert path.read_text().strip() in page


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """bench/publish_thesis.py, which writes below tmp_path."""
    spec = spec_from_file_location("publish_thesis", PUBLISH)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DOCS", tmp_path)
    monkeypatch.setattr(module, "PAGE", tmp_path / "reproducing.md")
    monkeypatch.setattr(module, "FIGURES", tmp_path / "figures")
    return module


def test_the_documentation_is_made_of_complete_directories_only(
    experiment: Command, tmp_path: Path, publish: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ("overhead", "--simulate", "--trials", 2, "--seconds", 2, "--out", out)
    assert experiment(*arguments).returncode == 0
    others = publish.FIGURES / "of_another_page.svg"
    publish.FIGURES.mkdir()
    others.write_text("")
    (publish.FIGURES / "simulated_before.svg").write_text("")
    assert publish.main([str(out)]) == 0
    page = publish.PAGE.read_text()
    assert "`rclrt experiment overhead --simulate --trials 2 --seconds 2 --out DIR`" in page
    pictures = re.findall(r"!\[.*\]\((.*)\)", page)
    assert pictures
    assert {tmp_path / name for name in pictures} == set(publish.FIGURES.iterdir()) - {others}
    assert others.exists()

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

    journal = out / "done.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))
    before = page
    assert publish.main([str(out)]) == 2
    assert "1 units are missing; go on with --resume" in capsys.readouterr().err
    assert publish.PAGE.read_text() == before
    assert publish.main([]) == 2
