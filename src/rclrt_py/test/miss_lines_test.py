# SPDX-License-Identifier: Apache-2.0
"""The lines that explain why deadlines were missed."""

import json
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.report.miss_lines import miss_lines
from rclrt_py.runs.run_data import RESULTS


def lines(directory: Path, results: dict[str, Any]) -> list[str]:
    (directory / RESULTS).write_text(json.dumps(results))
    return list(miss_lines(directory))


def miss(chain: str, response_ms: float | None, text: str) -> dict[str, Any]:
    return {"chain": chain, "response_ms": response_ms, "text": text}


def test_the_worst_miss_of_each_chain_is_a_line(tmp_path: Path) -> None:
    misses = [miss("a", 5, "a5"), miss("a", 9, "a9"), miss("a", 7, "a7"), miss("b", 1, "b1")]
    assert lines(tmp_path, {"misses": misses}) == ["a9", "b1"]


def test_one_that_never_ended_is_worse_than_any(tmp_path: Path) -> None:
    assert lines(tmp_path, {"misses": [miss("a", None, "lost"), miss("a", 9, "a9")]}) == ["lost"]


def test_results_without_misses_have_no_lines(tmp_path: Path) -> None:
    assert lines(tmp_path, {}) == []
    assert lines(tmp_path, {"misses": []}) == []


def sampled(max_age_ms: float | None) -> dict[str, Any]:
    """Returns the results of a cause-effect chain with a worst age of 31.5 ms."""
    term = {"chain": "eye_2", "callback": "act", "instance": 5}
    return {
        "id": "eye",
        "segments": ["eye_1", "eye_2"],
        "max_reaction_ms": None,
        "max_age_ms": max_age_ms,
        **dict.fromkeys(("inputs", "distinct", "outputs", "initial"), 1),
        **dict.fromkeys(("missed_reaction", "missed_age"), 0),
        "reaction_ms": None,
        "age_ms": dict.fromkeys(("best", "mean", "p50", "p99", "worst"), 31.5),
        "worst_age": {
            "end_ms": 50,
            "time_ms": 31.5,
            "terms": [
                {**term, "kind": "response", "chain": "eye_1", "callback": "see", "time_ms": 6},
                {**term, "kind": "sampling", "time_ms": 20.25},
                {**term, "kind": "logical", "time_ms": 5.25},
            ],
        },
    }


def test_a_data_age_above_its_limit_is_explained(tmp_path: Path) -> None:
    assert lines(tmp_path, {"cause_effect_chains": [sampled(None), sampled(31.5)]}) == []
    assert lines(tmp_path, {"cause_effect_chains": [sampled(30)]}) == [
        "chain eye exceeded its max_age_ms by 1.500 ms: 20.250 ms until act runs and reads "
        "the value, 6.000 ms response of eye_1, 5.250 ms until the deadline of eye_2, at which "
        "its values move"
    ]


def test_a_reaction_that_does_not_come_before_the_end_is_named(tmp_path: Path) -> None:
    chain = sampled(None)
    chain |= {"max_reaction_ms": 100, "missed_reaction": 1}
    chain["worst_reaction"] = chain["worst_age"]
    assert lines(tmp_path, {"cause_effect_chains": [chain]}) == [
        "chain eye exceeded its max_reaction_ms: a reaction had not come at the end"
    ]


def test_a_term_of_an_unknown_kind_is_located(tmp_path: Path) -> None:
    chain = sampled(30)
    chain["worst_age"]["terms"][1]["kind"] = "magic"
    with pytest.raises(BadInput, match=r"cause_effect_chains\[0\]\.worst_age\.terms\[1\]\.kind"):
        lines(tmp_path, {"cause_effect_chains": [chain]})
