# SPDX-License-Identifier: Apache-2.0
"""The CPUs of instances in instances.csv."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.errors import BadInput
from rclrt_py.runs.cpu_parts import CpuPart, around, have_times, migrations, parse_cpus
from rclrt_py.runs.csv_reader import OLD_INSTANCE_COLUMNS, read_instance_rows
from rclrt_py.runs.merge import merge_runs
from rclrt_py.runs.run_data import Run
from rclrt_py.testing.synthetic_run import write_run

ROW = "7,scan,3,main L3 #0,0,0,10,90,60,2,ran,obstacle:0"


@pytest.mark.parametrize(
    ("text", "parts", "moves"),
    [
        ("", (), 0),
        ("12", (CpuPart(12),), 0),
        ("0;3", (CpuPart(0), CpuPart(3)), 1),
        ("1:5-9", (CpuPart(1, 5, 9),), 0),
        ("0:-5-9;0:9-10", (CpuPart(0, -5, 9), CpuPart(0, 9, 10)), 0),
        ("0:1-2;1:2-3;0:5-6", (CpuPart(0, 1, 2), CpuPart(1, 2, 3), CpuPart(0, 5, 6)), 2),
    ],
)
def test_cpus_are_parsed(text: str, parts: tuple[CpuPart, ...], moves: int) -> None:
    assert parse_cpus(text) == parts
    assert migrations(parts) == moves
    assert have_times(parts) == (":" in text)


@pytest.mark.parametrize(
    "text",
    ["x", "0;", "0;0", "0;1;2", "-1", "65536", "0:5-5", "0:9-5", "0:1-3;0:2-4", "0:1-3;1", "0:1"],
)
def test_other_texts_are_refused_with_their_place(tmp_path: Path, text: str) -> None:
    path = tmp_path / "instances.csv"
    path.write_text(f"{','.join(OLD_INSTANCE_COLUMNS)},cpus\n{ROW},0\n{ROW},{text}\n")
    with pytest.raises(BadInput) as error:
        list(read_instance_rows(path))
    assert f"instances.csv:3: cpus is '{text}'; expected nothing, CPUs such as 0" in str(
        error.value
    )


def test_results_of_earlier_versions_have_no_cpus(tmp_path: Path) -> None:
    path = tmp_path / "instances.csv"
    path.write_text(f"{','.join(OLD_INSTANCE_COLUMNS)}\n{ROW}\n")
    assert [row.cpus for row in read_instance_rows(path)] == [()]
    path.write_text(f"{','.join(OLD_INSTANCE_COLUMNS)}\n{ROW},0\n")
    with pytest.raises(BadInput, match="13 cells; expected 12"):
        list(read_instance_rows(path))
    path.write_text("")
    with pytest.raises(BadInput, match="the header is ''"):
        list(read_instance_rows(path))


def test_an_instance_may_have_very_many_parts(tmp_path: Path) -> None:
    parts = ";".join(f"{n % 2}:{10 * n}-{10 * n + 5}" for n in range(50_000))
    path = tmp_path / "instances.csv"
    path.write_text(f"{','.join(OLD_INSTANCE_COLUMNS)},cpus\n{ROW},{parts}\n")
    (row,) = read_instance_rows(path)
    assert migrations(row.cpus) == 49_999


times = st.lists(st.integers(0, 60), min_size=2, max_size=20, unique=True).map(sorted)


@given(times, st.integers(-5, 70), st.integers(1, 20))
def test_the_parts_around_an_interval_cover_it(edges: list[int], start: int, length: int) -> None:
    parts = tuple(CpuPart(0, a, b) for a, b in zip(edges[::2], edges[1::2], strict=False))
    end = start + length
    found = around(parts, start, end)
    inside = [part for part in parts if part.start < end and part.end > start]
    assert [part for part in found if part.start < end and part.end > start] == inside
    assert len(found) <= len(inside) + 2
    earlier = [part for part in parts if part.end <= start]
    assert not earlier or found[0] == earlier[-1]


def test_rounds_are_merged_with_or_without_migrations(tmp_path: Path) -> None:
    runs = [Run.load(write_run(tmp_path / f"round-{n}", seconds=0.5, seed=n)) for n in (1, 2)]
    assert merge_runs(runs).callbacks[0].migrations == 0
    document = runs[0].directory / "results.json"
    document.write_text(document.read_text().replace('"migrations": 0', '"migrations": 4'))
    runs[0] = Run.load(runs[0].directory)
    assert merge_runs(runs).callbacks[0].migrations == 4
    document.write_text(document.read_text().replace(',\n   "migrations": 4', ""))
    old = Run.load(runs[0].directory)
    assert old.results.callbacks[0].migrations is None
    assert merge_runs([old]).callbacks[0].migrations is None
    assert "migrations" not in old.results.callbacks[0].to_json()
    assert merge_runs([old, runs[1]]).callbacks[0].migrations == 0
