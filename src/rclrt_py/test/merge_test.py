# SPDX-License-Identifier: Apache-2.0
"""Rounds of one executor become one result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.hosts import OverHosts
from rclrt_py.runs.merge import merge_contexts, merge_runs
from rclrt_py.runs.run_data import Run
from rclrt_py.stats import summarise
from rclrt_py.testing.scheduler_model import Callback, Chain
from rclrt_py.testing.synthetic_run import context, plain_statistics, write_run

MS = 1_000_000
milliseconds = st.lists(st.integers(1, 30), min_size=1, max_size=8)
ONE_CHAIN = (
    [Callback("tick", "clock", 1 * MS, 1, (), (), period=10 * MS)],
    [Chain("beat", ("tick",), 1, 5 * MS)],
)


def run_with_responses(directory: Path, responses_ms: list[int]) -> Run:
    """Returns a run in which chain `beat` (deadline 5 ms) had exactly these responses."""
    write_run(directory, seconds=0.01, graph=ONE_CHAIN)
    rows = [
        f"beat,{number},{10 * number * MS},{(10 * number + ms) * MS},{ms * MS},"
        f"{'late' if ms > 5 else 'completed'},0"
        for number, ms in enumerate(responses_ms)
    ]
    header = "chain,instance,release_ns,completion_ns,response_ns,status,host_stall_ns"
    (directory / "chains.csv").write_text("\n".join([header, *rows]) + "\n")
    document = json.loads((directory / "results.json").read_text())
    document["chains"][0].update(
        released=len(rows),
        completed=len(rows),
        pending=0,
        missed=sum(ms > 5 for ms in responses_ms),
    )
    (directory / "results.json").write_text(json.dumps(document))
    return Run.load(directory)


def test_rounds_are_merged_over_all_instances_not_by_averaging_percentiles(tmp_path: Path) -> None:
    first = run_with_responses(tmp_path / "round-1", [1, 1, 1])
    second = run_with_responses(tmp_path / "round-2", [2, 4, 9, 9])
    merged = merge_runs([first, second])
    (chain,) = merged.chains
    # Together, sorted: 1 1 1 2 4 9 9. p50: rank 4 -> 2 (the averaged medians would be 2.5);
    # p99: rank 7 -> 9; mean 27 / 7 = 3.857143.
    assert chain.response is not None
    assert chain.response.to_json() == {
        "best": 1.0,
        "mean": 3.857143,
        "p50": 2.0,
        "p99": 9.0,
        "worst": 9.0,
    }
    assert (chain.released, chain.completed, chain.missed) == (7, 7, 2)
    assert chain.normalised_worst == 1.8  # 9 / 5
    assert chain.response.jitter == 8.0
    assert merged.rounds == 2


def test_the_normalised_worst_is_rounded_like_the_runners(tmp_path: Path) -> None:
    (chain,) = run_with_responses(tmp_path / "run", [1]).results.chains
    assert chain.response is not None
    # 15.30865 ms of 20 ms are 0.7654325: half a millionth goes up (Python's round() goes to even).
    response = replace(chain.response, worst=15.308650)
    assert replace(chain, deadline_ms=20.0, response=response).normalised_worst == 0.765433


def test_a_single_run_keeps_its_own_statistics(tmp_path: Path) -> None:
    run = Run.load(write_run(tmp_path / "run", "wait_set", 4.0))
    original = json.loads((run.directory / "results.json").read_text())
    assert merge_runs([run]).to_json() == original


def test_the_merged_context_sums_what_the_host_took_and_keeps_the_worst() -> None:
    first, second = context(), context()
    second["steal_ms"] = 4.0
    second["host_stalls"] = {
        "count": 3,
        "total_ms": 1.75,
        "worst_ms": 9.5,
        "threshold_ms": 0.5,
        "valid": True,
    }
    second["realtime"] = False
    merged = merge_contexts([first, second])
    # first: steal 1.5, stalls 2 of 3.25 ms in all, worst 2.0
    assert merged["steal_ms"] == 5.5
    assert merged["host_stalls"]["count"] == 5
    assert merged["host_stalls"]["total_ms"] == 5.0
    assert merged["host_stalls"]["worst_ms"] == 9.5
    assert merged["realtime"] is False


def test_what_the_kernel_held_back_is_summed_and_older_results_say_nothing_of_it() -> None:
    first, second, older = context(), context(), context()
    first["held_back"] = {"count": 2, "total_ms": 1.5, "worst_ms": 1.0, "limit": None}
    second["held_back"] = {"count": 1, "total_ms": 50.25, "worst_ms": 50.25, "limit": "95 %"}
    merged = merge_contexts([older, first, second])
    assert merged["held_back"] == {
        "count": 3,
        "total_ms": 51.75,
        "worst_ms": 50.25,
        "limit": "95 %",
    }
    assert "held_back" not in merge_contexts([older, older])


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rounds=st.lists(milliseconds, min_size=1, max_size=4))
def test_merging_rounds_equals_the_statistics_of_their_concatenation(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[int]]
) -> None:
    directory = tmp_path_factory.mktemp("rounds")
    runs = [
        run_with_responses(directory / f"round-{number}", responses)
        for number, responses in enumerate(rounds, start=1)
    ]
    (chain,) = merge_runs(runs).chains
    everything = [ms for responses in rounds for ms in responses]
    assert chain.response == summarise([ms * MS for ms in everything])
    assert chain.released == len(everything)
    assert chain.missed == sum(ms > 5 for ms in everything)


def test_rounds_of_different_applications_are_not_merged(tmp_path: Path) -> None:
    first = Run.load(write_run(tmp_path / "round-1"))
    other = write_run(tmp_path / "round-2")
    document = json.loads((other / "results.json").read_text())
    document["application"]["sha256"] = "1" * 64
    (other / "results.json").write_text(json.dumps(document))
    with pytest.raises(BadInput, match="round-2: not a round of the same application"):
        merge_runs([first, Run.load(other)])


def way(time_ms: int, instance: int) -> dict[str, Any]:
    term = {"kind": "response", "chain": "beat", "callback": "tick", "instance": instance}
    return {"end_ms": 7, "time_ms": time_ms, "terms": [{**term, "time_ms": time_ms}]}


def sampled_run(directory: Path, ages_ms: list[int], reactions_ms: list[int | None]) -> Run:
    """Returns a run with these outputs of the cause-effect chain `path`."""
    write_run(directory, seconds=0.01, graph=ONE_CHAIN)
    rows = [
        f"path,0,{age * MS},{age * MS},{'' if reaction is None else reaction * MS}"
        for age, reaction in zip(ages_ms, reactions_ms, strict=True)
    ]
    (directory / "outputs.csv").write_text(
        "\n".join(["chain,release_ns,end_ns,age_ns,reaction_ns", *rows]) + "\n"
    )
    document = json.loads((directory / "results.json").read_text())
    document["cause_effect_chains"] = [
        {
            "id": "path",
            "segments": ["beat"],
            "max_reaction_ms": None,
            "max_age_ms": 5,
            "inputs": 4,
            "distinct": 2,
            "outputs": len(rows),
            "initial": 1,
            "missed_reaction": 0,
            "missed_age": sum(age > 5 for age in ages_ms),
            "reaction_ms": None,
            "age_ms": plain_statistics([age * MS for age in ages_ms]),
            "worst_age": way(max(ages_ms), len(rows)),
        }
    ]
    (directory / "results.json").write_text(json.dumps(document))
    return Run.load(directory)


def test_outputs_of_chains_that_sample_are_merged(tmp_path: Path) -> None:
    first = sampled_run(tmp_path / "round-1", [1, 2], [None, 3])
    second = sampled_run(tmp_path / "round-2", [6, 7, 8], [None, 4, None])
    (chain,) = merge_runs([first, second]).cause_effect_chains
    assert (chain.inputs, chain.distinct, chain.outputs, chain.initial) == (8, 4, 5, 2)
    assert (chain.missed_age, chain.missed_reaction, chain.missed) == (3, 0, 3)
    assert chain.age is not None
    assert (chain.age.best, chain.age.p50, chain.age.worst) == (1, 6, 8)
    assert chain.reaction is not None
    assert (chain.reaction.best, chain.reaction.worst) == (3, 4)
    assert chain.worst_reaction is None
    assert chain.worst_age is not None
    assert chain.worst_age.to_json() == {**way(8, 3), "round": 2}
    assert type(chain).read(JsonValue(chain.to_json(), tmp_path)) == chain


def test_missing_outputs_are_an_error(tmp_path: Path) -> None:
    run = sampled_run(tmp_path / "run", [1, 2], [None, 3])
    file = run.directory / "outputs.csv"
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(BadInput, match=r"outputs\.csv: 1 outputs of chain 'path'; expected the 2"):
        merge_runs([run])
    file.write_text("chain,release_ns,end_ns,age_ns,reaction_ns\npath,0,5,4,\n")
    with pytest.raises(BadInput, match="age_ns is 4; expected end_ns - release_ns"):
        merge_runs([run])
    file.write_text("chain,release_ns,end_ns,age_ns,reaction_ns\nother,0,5,5,\n")
    with pytest.raises(BadInput, match="chain 'other' is not in"):
        merge_runs([run])


def test_what_the_clocks_of_hosts_leave_open_is_merged(tmp_path: Path) -> None:
    runs = []
    for number, unknown, error_ms in ((1, 1, 0.5), (2, 2, 0.75)):
        directory = write_run(tmp_path / f"round-{number}", seconds=0.05, graph=ONE_CHAIN)
        document = json.loads((directory / "results.json").read_text())
        document["chains"][0].update(unknown=unknown, error_ms=error_ms)
        document["callbacks"][0].update(error_ms=error_ms)
        (directory / "results.json").write_text(json.dumps(document))
        runs.append(Run.load(directory))
    merged = merge_runs(runs)
    assert merged.chains[0].over_hosts == OverHosts(unknown=3, error_ms=0.75)
    assert merged.to_json()["callbacks"][0]["error_ms"] == 0.75
