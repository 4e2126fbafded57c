# SPDX-License-Identifier: Apache-2.0
"""Results of a run that streamed: it keeps a part of its instances, and histograms of all."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.bounds.excesses import Excess, above_bound_at_least
from rclrt_py.bounds.judging import PARTLY_KEPT, as_kept
from rclrt_py.bounds.predicted import PredictedChain
from rclrt_py.comparisons.comparison import load_single_run
from rclrt_py.errors import BadInput
from rclrt_py.report.comparison_table import print_table
from rclrt_py.report.page import report_data
from rclrt_py.report.writing import load_results, page_beside, settled
from rclrt_py.runs.histograms import Histogram, Times, ranked, read_histograms, summarise_times
from rclrt_py.runs.merge import merge_runs
from rclrt_py.runs.output_directory import MARKER, STAGING, Plan, claimed
from rclrt_py.runs.run_data import Run
from rclrt_py.runs.streamed import Streamed
from rclrt_py.stats import Summary, summarise
from rclrt_py.testing.streamed_run import bucket_of, stream_run
from rclrt_py.testing.synthetic_run import write_run

MS = 1_000_000
LATEST_NS = 500 * MS


@pytest.fixture
def exact(tmp_path: Path) -> Path:
    return write_run(tmp_path / "exact")


@pytest.fixture
def streamed(exact: Path, tmp_path: Path) -> Path:
    shutil.copytree(exact, tmp_path / "streamed")
    return stream_run(tmp_path / "streamed", LATEST_NS)


def times_of(values: list[int]) -> Times:
    """Returns the times as a run that streamed has them."""
    histogram = Histogram()
    for lowest, highest in sorted({bucket_of(value) for value in values}):
        histogram.lowest.append(lowest)
        histogram.highest.append(highest)
        histogram.counts.append(sum(lowest <= value <= highest for value in values))
    return Times(histogram=histogram, summary=summarise(values))


def test_the_figures_are_those_of_all_instances(exact: Path, streamed: Path) -> None:
    before, after = merge_runs([Run.load(exact)]), merge_runs([Run.load(streamed)])
    assert after.streamed is not None
    assert after.streamed.kept < after.streamed.instances
    assert after.chains == before.chains
    assert after.callbacks == before.callbacks


def test_a_report_shows_what_is_kept(streamed: Path) -> None:
    comparison = load_single_run(streamed)
    data = report_data(comparison, streamed, streamed / "report.html")
    for chain in data["chains"]:
        (series,) = chain["series"]
        assert series["sample_count"] == series["completed"] == len(series["samples"])
        assert series["samples"] == sorted(series["samples"])
        assert series["samples"][-1] == round(series["response_ms"]["worst"] * MS)
    labels = [choice["label"] for choice in data["gantt"]["choices"]]
    assert labels[:2] == ["worst response of obstacle", "median response of obstacle"]
    assert labels[-1] == "second hyperperiod that is kept whole of the first round"
    for choice in data["gantt"]["choices"]:
        (panel,) = choice["panels"]
        assert panel["slices"], choice["label"]
    (last,) = data["gantt"]["choices"][-1]["panels"]
    assert last["start"] >= 2000 * MS - LATEST_NS
    context = dict(data["context"])
    assert "instances of callbacks are kept" in context["Instances"]
    assert "End" not in context


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        ("interrupted", "the run was stopped after 2.0 s"),
        ("running", "the run had not ended when these results were written, 2.0 s after its start"),
    ],
)
def test_table_and_report_say_how_the_run_ended(exact: Path, ended: str, text: str) -> None:
    stream_run(exact, LATEST_NS, ended)
    comparison = load_single_run(exact)
    data = report_data(comparison, exact, exact / "report.html")
    assert dict(data["context"])["End"] == text
    table = io.StringIO()
    print_table(comparison, table, {})
    said = " ".join(table.getvalue().split())
    assert f"preemptive: {text}." in said
    assert "percentiles at most 0.1 % too large." in said


def test_rounds_are_merged_by_their_histograms(tmp_path: Path) -> None:
    exact = [write_run(tmp_path / f"round-{seed}", seed=seed) for seed in (1, 2)]
    before = merge_runs([Run.load(directory) for directory in exact])
    stream_run(exact[1], LATEST_NS)
    after = merge_runs([Run.load(directory) for directory in exact])
    for old, new in zip(before.chains, after.chains, strict=True):
        assert (new.released, new.missed) == (old.released, old.missed)
        assert_near(new.response, old.response)
    for one, other in zip(before.callbacks, after.callbacks, strict=True):
        assert_near(other.execution, one.execution)
    assert after.streamed is not None


def assert_near(found: Summary | None, exact: Summary | None) -> None:
    assert found is not None
    assert exact is not None
    assert (found.best, found.worst) == (exact.best, exact.worst)
    assert found.mean == pytest.approx(exact.mean, abs=1.1e-6)  # each run has rounded its own
    assert exact.p50 <= found.p50 <= exact.p50 * 1.001
    assert exact.p99 <= found.p99 <= exact.p99 * 1.001


numbers = st.lists(st.integers(0, 10**10), min_size=1, max_size=60)


@given(st.lists(numbers, min_size=1, max_size=4), st.integers(0, 4))
def test_percentiles_of_several_runs_are_at_most_a_thousandth_too_large(
    runs: list[list[int]], kept: int
) -> None:
    times = [
        Times(values) if number < kept else times_of(values) for number, values in enumerate(runs)
    ]
    found = summarise_times(times)
    exact = summarise(value for values in runs for value in values)
    assert_near(found, exact)


@given(numbers)
def test_ranks_of_a_histogram_are_those_of_its_times(values: list[int]) -> None:
    ordered = sorted(values)
    found = ranked([times_of(values)], range(1, len(values) + 1))
    for one, exact in zip(found, ordered, strict=True):
        assert exact <= one <= exact * 1.001


def test_times_above_a_limit_are_those_that_certainly_are() -> None:
    histogram = Histogram(lowest=[0, 10, 25], highest=[9, 19, 29], counts=[5, 3, 2])
    assert histogram.above(8) == 5  # some of the first bucket may be below
    assert histogram.above(9) == 5
    assert histogram.above(10) == 2
    assert histogram.above(20) == 2  # between two buckets
    assert histogram.above(29) == 0


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("chain,beat,response,5,4,1", "the range is 5 to 4; expected one above the row before"),
        ("chain,beat,response,5,9,0", "count is 0; expected at least 1"),
        ("chain,beat,age,5,9,1", "times is 'age'; expected one of response"),
        ("thread,beat,response,5,9,1", "kind is 'thread'; expected one of chain, callback"),
        ("chain,beat,response,x,9,1", "lowest_ns is 'x'; expected a whole number"),
    ],
)
def test_a_wrong_row_is_located(tmp_path: Path, row: str, error: str) -> None:
    path = tmp_path / "histograms.csv"
    path.write_text(f"kind,id,times,lowest_ns,highest_ns,count\n{row}\n")
    with pytest.raises(BadInput) as raised:
        read_histograms(path)
    assert str(raised.value).startswith(f"{path}:2: {error}")


def test_a_histogram_that_was_cut_short_is_refused(streamed: Path) -> None:
    path = streamed / "histograms.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:3]) + "\n")
    with pytest.raises(BadInput, match=r"histograms.csv: \d+ instances of chain 'obstacle'"):
        merge_runs([Run.load(streamed)])


def test_instances_above_a_bound_count_also_if_they_are_not_kept(streamed: Path) -> None:
    run = Run.load(streamed)
    response = run.results.chains[0].response
    assert response is not None
    chain = PredictedChain(
        id="obstacle",
        bound_ms=response.best * 0.9,
        verdict="proved",
        assumptions=(),
        level=3,
        cpus=(),
        note="",
    )
    assert above_bound_at_least(run, chain) == run.results.chains[0].completed
    assert above_bound_at_least(run, replace(chain, bound_ms=response.worst)) == 0
    assert above_bound_at_least(run, replace(chain, bound_ms=None)) == 0
    lost = replace(run.results.chains[0], dropped=3)
    run = Run(streamed, replace(run.results, chains=(lost, *run.results.chains[1:])))
    above = replace(chain, bound_ms=response.worst)
    assert above_bound_at_least(run, above) == 3
    # A synchroniser may leave them over: then a lost one is not above the bound.
    assert above_bound_at_least(run, replace(above, meets_all=False)) == 0


@pytest.mark.parametrize("dropped", [True, False])
def test_histograms_and_results_that_do_not_fit_are_refused(streamed: Path, dropped: bool) -> None:
    path = streamed / "results.json"
    document = json.loads(path.read_text())
    callback = document["callbacks"][0]
    if dropped:
        rows = (streamed / "histograms.csv").read_text().splitlines()
        kept = [row for row in rows if not row.startswith(f"callback,{callback['id']},")]
        (streamed / "histograms.csv").write_text("\n".join(kept) + "\n")
        error = f"0 response times of callback '{callback['id']}'; expected some"
    else:
        callback["response_ms"] = None
        error = rf"\d+ response times of callback '{callback['id']}'; expected none"
    path.write_text(json.dumps(document))
    with pytest.raises(BadInput, match=error):
        merge_runs([Run.load(streamed), Run.load(streamed)])


def test_a_disk_that_is_full_before_the_report_keeps_the_results(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def run_out_of_room() -> None:
        with claimed(out, Plan("run", ("preemptive",), 1, 2.0)) as directory:
            write_run(directory / STAGING / "run")
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        run_out_of_room()
    (results,) = load_results(out).executors
    assert results.duration_s == 2.0


def test_an_excess_before_the_latest_instances_has_no_cause_but_the_host() -> None:
    kept = Streamed(instances=9, kept=5, latest_since_ms=100.0, percentile_error=0.001)
    early = Excess("c", 0, 99 * MS, 9, 8, 0, 1, 0, None, "assumption", "late")
    assert as_kept(early, None) == early
    assert as_kept(early, kept) == replace(early, cause="unexplained", what=PARTLY_KEPT)
    for excess in (replace(early, release=100 * MS), replace(early, cause="host")):
        assert as_kept(excess, kept) == excess


def test_results_of_a_run_that_was_killed_are_read(exact: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    stream_run(exact, LATEST_NS, "running")
    (out / STAGING).mkdir(parents=True)
    shutil.move(exact, out / STAGING / "run")
    plan = {"kind": "run", "executors": ["preemptive"], "rounds": 1, "seconds": 3600.0}
    (out / MARKER).write_text(json.dumps(plan))
    (results,) = load_results(out).executors
    assert results.ended == "running"
    assert results.duration_s == 2.0
    assert (out / STAGING / "run").is_dir()  # the run may go on


def test_results_that_are_replaced_while_they_are_copied_are_copied_again(
    exact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run = out / STAGING / "run"
    stream_run(exact, LATEST_NS, "running")
    newer = stream_run(write_run(tmp_path / "newer", seconds=3.0), LATEST_NS, "running")
    run.parent.mkdir(parents=True)
    shutil.move(exact, run)
    plan = {"kind": "run", "executors": ["preemptive"], "rounds": 1, "seconds": 3600.0}
    (out / MARKER).write_text(json.dumps(plan))
    copy, copies = shutil.copytree, []

    def replaced_meanwhile(source: Path, target: Path) -> None:
        copy(source, target)
        copies.append(source)
        if len(copies) == 1:  # after some of the files were copied
            shutil.rmtree(run)
            copy(newer, run)

    monkeypatch.setattr(shutil, "copytree", replaced_meanwhile)
    (results,) = load_results(out).executors
    assert results.duration_s == 3.0
    assert len(copies) == 2


def test_a_recording_that_goes_on_is_read_from_one_write(exact: Path, tmp_path: Path) -> None:
    out = stream_run(exact, LATEST_NS, "running")
    newer = stream_run(write_run(tmp_path / "newer", seconds=3.0), LATEST_NS, "running")
    with settled(out) as place:
        shutil.rmtree(out)
        newer.rename(out)  # as its program does
        comparison = load_results(place, out)
        (runs,) = comparison.runs.values()
        assert comparison.executors[0].duration_s == 2.0
        assert [each.place for each in runs] == [out]
        assert runs[0].chain_times()  # with the number that the results state
    assert not place.exists()

    def broken() -> None:
        with settled(out) as place:
            (place / "results.json").write_text("{")
            load_results(place, out)

    with pytest.raises(BadInput) as told:
        broken()
    assert str(told.value).startswith(f"{out / 'results.json'}:1:")


def test_the_page_about_a_run_that_goes_on_is_beside_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert page_beside(Path("out")) == Path("out.html")
    assert page_beside(Path("a/out.1/")) == Path("a/out.1.html")
    assert page_beside(Path()) == tmp_path.with_name(tmp_path.name + ".html")


def test_a_killed_run_without_results_is_refused_as_before(tmp_path: Path) -> None:
    plan = {"kind": "run", "executors": ["preemptive"], "rounds": 1, "seconds": 3600.0}
    (tmp_path / MARKER).write_text(json.dumps(plan))
    with pytest.raises(BadInput, match=r"has no results\.json"):
        load_results(tmp_path)
