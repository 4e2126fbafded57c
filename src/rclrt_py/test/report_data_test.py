# SPDX-License-Identifier: Apache-2.0
"""Data of the report: windows, slices, thinned samples, the sentence, the embedded JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.comparisons.comparison import Comparison, Missing, load_single_run
from rclrt_py.report.distributions import chains_data, thinned
from rclrt_py.report.gantt import MAX_SLICES, gantt_data
from rclrt_py.report.graph import graph_data
from rclrt_py.report.headline import headline, milliseconds
from rclrt_py.report.page import make_report, report_data
from rclrt_py.report.windows import choose, window_length
from rclrt_py.runs.application import ApplicationInfo, from_results
from rclrt_py.runs.histograms import Times
from rclrt_py.runs.results import ChainResult, Results
from rclrt_py.stats import Summary
from rclrt_py.testing.synthetic_run import write_run

MS = 1_000_000


def results_with(results: Results, chain: ChainResult) -> Results:
    return replace(results, chains=(chain,))


def hard(comparison: Comparison, **changes: object) -> ChainResult:
    chain = comparison.executors[0].chains[0]
    response = Summary(best=10.0, mean=11.0, p50=11.0, p99=12.3456, worst=12.5)
    fields = {"released": 200, "missed": 0, "missed_host": 0, "response": response, **changes}
    return replace(chain, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {},
            "Under preemptive, chain obstacle missed none of its 200 deadlines, with a "
            "99th-percentile response of 12.3 ms and 2.50 ms of jitter.",
        ),
        (
            {"missed": 3, "missed_host": 1},
            "Under preemptive, chain obstacle missed 3 of its 200 deadlines (1 of them explained "
            "by a stall of the machine), with a 99th-percentile response of 12.3 ms and 2.50 ms of "
            "jitter.",
        ),
        (
            {"missed": 1, "missed_host": 1},
            "Under preemptive, chain obstacle missed 1 of its 200 deadlines (that one explained "
            "by a stall of the machine), with a 99th-percentile response of 12.3 ms and 2.50 ms of "
            "jitter.",
        ),
        (
            {"missed": 200, "response": None},
            "Under preemptive, chain obstacle missed 200 of its 200 deadlines and never completed.",
        ),
        ({"released": 0}, "Under preemptive, chain obstacle was never released."),
    ],
)
def test_the_headline_is_made_of_the_numbers(
    comparison: Comparison, changes: dict[str, object], sentence: str
) -> None:
    results = results_with(comparison.executors[-1], hard(comparison, **changes))
    assert headline(replace(comparison, executors=(results,))) == sentence


def test_the_headline_names_the_baselines_result_too(comparison: Comparison) -> None:
    base = results_with(comparison.executors[0], hard(comparison, missed=9))
    mine = results_with(comparison.executors[-1], hard(comparison))
    sentence = headline(replace(comparison, executors=(base, mine)))
    assert sentence.endswith(
        "; under the wait set (rclcpp semantics) it missed 9 of its 200 deadlines, with a "
        "99th-percentile response of 12.3 ms and 2.50 ms of jitter."
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 µs"),
        (0.000_5, "0.500 µs"),
        (0.866_4, "866 µs"),
        (1.0, "1.00 ms"),
        (15.962, "16.0 ms"),
        (99.96, "100.0 ms"),
        (123.4, "123 ms"),
        (98_765.4, "98765 ms"),
    ],
)
def test_a_time_in_a_sentence_has_three_digits(value: float, text: str) -> None:
    assert milliseconds(value) == text


def test_a_replayed_counter_example_leads_the_report(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run")
    path = directory / "results.json"
    replayed = {"chain": "mapping", "instance": 3}
    stated = {"seed": 0, "lowest_execution": 1, "replayed": replayed}
    path.write_text(json.dumps({**json.loads(path.read_text()), "simulated": stated}))
    data = report_data(load_single_run(directory), directory, directory / "report.html")
    assert data["headline"].startswith("Under preemptive, chain mapping missed ")
    assert data["headline"].endswith("which is about instance 3 of chain mapping.")
    assert [chain["id"] for chain in data["chains"]] == ["mapping", "obstacle", "planning"]
    first = data["gantt"]["choices"][0]
    assert first["label"] == "counter-example of mapping"
    (panel,) = first["panels"]
    assert (panel["chain"], panel["instance"]) == (0, 3)
    (due,) = (row[4] for row in panel["responses"] if row[:2] == [0, 3])
    assert 75 * MS < due <= first["length"]  # its deadline is in the picture
    assert ("Counter-example", "chain mapping, instance 3") in data["context"]


def test_thinning_keeps_every_kth_value_and_both_ends() -> None:
    # 10 values, at most 4: every 3rd (0, 3, 6, 9); 9 is the last one already.
    assert thinned([Times(range(10))], 4) == [0, 3, 6, 9]
    assert thinned([Times(range(11))], 4) == [0, 3, 6, 9, 10]
    assert thinned([Times([3, 1]), Times([2])], 3) == [1, 2, 3]
    assert thinned([Times()], 3) == []


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=300), st.integers(1, 50))
def test_thinning_keeps_range_and_limit(values: list[int], limit: int) -> None:
    ordered = sorted(values)
    kept = thinned([Times(values)], limit)
    assert len(kept) <= limit + 1
    assert (kept[0], kept[-1]) == (ordered[0], ordered[-1])


def test_histograms_count_every_completed_instance(comparison: Comparison) -> None:
    for chain in chains_data(comparison):
        for series in chain["series"]:
            assert series["sample_count"] == len(series["samples"]) == series["completed"]
            assert series["samples"][-1] == round(series["response_ms"]["worst"] * MS)


def test_the_window_is_the_hyperperiod_when_it_can_be_drawn(comparison: Comparison) -> None:
    info = from_results(comparison.executors[0])
    assert info.hyperperiod_ns == 150 * MS  # of 50 and 75 ms
    assert window_length(info, comparison) == (150 * MS, "One hyperperiod, 150 ms.")
    length, note = window_length(replace(info, hyperperiod_ns=10**12), comparison)
    assert length == 150 * MS  # twice the longest period, 75 ms
    assert note.startswith("Two of the longest period")


def test_every_executors_window_shows_its_chosen_instance_whole(comparison: Comparison) -> None:
    for choice in choose(comparison, 150 * MS):
        assert {window.executor for window in choice.windows} == {
            results.executor for results in comparison.executors
        }
        assert len({window.length for window in choice.windows}) == 1
        assert all(window.start % (150 * MS) == 0 for window in choice.windows)
    data = gantt_data(comparison, from_results(comparison.executors[0]))
    labels = [choice["label"] for choice in data["choices"]]
    assert labels == [
        "worst response of obstacle",
        "median response of obstacle",
        "worst response of planning",
        "worst response of mapping",
        "second hyperperiod of the first round",
    ]
    for choice in data["choices"][:4]:
        for panel in choice["panels"]:
            (chosen,) = (
                row
                for row in panel["responses"]
                if row[0] == panel["chain"] and row[1] == panel["instance"]
            )
            assert 0 <= chosen[2] < chosen[3] <= choice["length"]


def test_a_response_that_leaves_its_hyperperiod_gets_a_second_one(comparison: Comparison) -> None:
    # Chain mapping responds within 75 ms or a little more, so it leaves windows of 60 ms.
    by_label = {choice.label: choice for choice in choose(comparison, 60 * MS)}
    worst = by_label["worst response of mapping"]
    assert {window.length for window in worst.windows} == {120 * MS}
    by_label = {choice.label: choice for choice in choose(comparison, 150 * MS)}
    worst = by_label["worst response of mapping"]
    assert {window.length for window in worst.windows} == {150 * MS}


def test_the_worst_window_holds_the_worst_response(comparison: Comparison) -> None:
    data = gantt_data(comparison, from_results(comparison.executors[0]))
    for panel, results in zip(data["choices"][0]["panels"], comparison.executors, strict=True):
        chain = results.chain("obstacle")
        assert chain is not None
        assert chain.response is not None
        (row,) = (
            row for row in panel["responses"] if row[:2] == [panel["chain"], panel["instance"]]
        )
        assert row[3] - row[2] == round(chain.response.worst * MS)


def test_tracks_are_ordered_by_urgency(comparison: Comparison) -> None:
    data = gantt_data(comparison, from_results(comparison.executors[0]))
    assert data["choices"][0]["panels"][0]["tracks"] == ["main"]
    assert data["choices"][0]["panels"][3]["tracks"] == ["main L3", "main L2", "main L1"]


def test_a_window_with_too_many_slices_says_that_it_is_cut(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    header, first, *_ = (directory / "instances.csv").read_text().splitlines()
    many = [first] * (MAX_SLICES + 1)
    (directory / "instances.csv").write_text("\n".join([header, *many]) + "\n")
    comparison = load_single_run(directory)
    data = gantt_data(comparison, from_results(comparison.executors[0]))
    panels = [choice["panels"][0] for choice in data["choices"]]
    assert any(panel["cut"] and len(panel["slices"]) == MAX_SLICES for panel in panels)


def test_the_graph_knows_which_chains_use_an_edge(comparison: Comparison) -> None:
    info = from_results(comparison.executors[0])
    graph = graph_data(info, ["obstacle", "planning", "mapping"])
    chains = {(edge["from"], edge["to"]): edge["chains"] for edge in graph["edges"]}
    assert chains["c:capture", "t:capture"] == [0]
    assert chains["c:fuse", "t:fuse"] == [0, 1]
    assert chains["t:fuse", "c:plan"] == [1]
    assert graph["vertices"]["c:fuse"]["chains"] == [0, 1]
    assert graph["vertices"]["t:fuse"]["kind"] == "joint"  # topics are not known from results


def test_application_json_round_trips(tmp_path: Path, comparison: Comparison) -> None:
    info = from_results(comparison.executors[0])
    (tmp_path / "application.json").write_text(info.to_json())
    assert ApplicationInfo.load(tmp_path / "application.json") == info


def test_the_page_is_one_file_that_names_no_other_resource(
    tmp_path: Path, comparison: Comparison
) -> None:
    page = make_report(comparison, tmp_path)
    for reference in (" src=", "<link", "@import", "url(", "@DATA@", "@STYLE@", "import("):
        assert reference not in page
    assert page.count("<script") == 2


def test_the_report_says_which_rounds_are_missing(tmp_path: Path, comparison: Comparison) -> None:
    broken = replace(comparison, missing=(Missing("preemptive", 2),))
    data = report_data(broken, tmp_path, tmp_path / "report.html")
    assert data["missing"] == ["preemptive, round 2"]


def test_the_trace_is_linked_only_when_there_is_one(tmp_path: Path, comparison: Comparison) -> None:
    assert report_data(comparison, tmp_path, tmp_path / "report.html")["trace"] is None
    (tmp_path / "trace.pftrace").write_bytes(b"")
    page = tmp_path / "deep er" / "report.html"
    assert report_data(comparison, tmp_path, page)["trace"] == "../trace.pftrace"


def test_unknown_stalls_are_not_called_none(tmp_path: Path, comparison: Comparison) -> None:
    results = comparison.executors[-1]
    stalls = {**results.context["host_stalls"], "valid": False}
    blind = replace(results, context={**results.context, "host_stalls": stalls})
    data = report_data(replace(comparison, executors=(blind,)), tmp_path, tmp_path / "report.html")
    assert dict(data["context"])["Stalls of the machine"].startswith("not known")
