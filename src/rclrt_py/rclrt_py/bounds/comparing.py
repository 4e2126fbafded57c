# SPDX-License-Identifier: Apache-2.0
"""Adds bounds to observations: in the results, in their file, and as an exit code."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain as concatenate
from pathlib import Path

from rclrt_py.bounds.excesses import ASSUMPTION, Excess, above_bound_at_least, load_excesses
from rclrt_py.bounds.predicted import Prediction, Predictions
from rclrt_py.bounds.sampling import Observed, with_sampling_bounds
from rclrt_py.bounds.steps import worst_steps
from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_OK
from rclrt_py.files.atomic import write_atomically
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis
from rclrt_py.runs.results import ChainPrediction, ChainResult, Results, Step
from rclrt_py.runs.run_data import RESULTS, Run
from rclrt_py.stats import to_ms
from rclrt_py.text import exact

MOST_TOLD = 3


def with_predictions(
    results: Results, runs: Sequence[Run], predictions: Predictions | None
) -> Results:
    """Returns the results of an executor with its bounds, if there are any."""
    prediction = predictions.executors.get(results.executor) if predictions else None
    if prediction is None:
        return results
    above: dict[str, list[Excess]] = {chain.id: [] for chain in results.chains}
    excesses = [load_excesses(run, prediction.chains.values()) for run in runs]
    for excess in concatenate.from_iterable(excesses):
        above[excess.chain].append(excess)
    worst = worst_steps(runs, prediction.chains.values())
    chains = tuple(
        _with_prediction(
            each,
            prediction,
            above[each.id],
            worst.get(each.id, []),
            sum(
                max(
                    sum(excess.chain == each.id for excess in found),
                    above_bound_at_least(run, prediction.chains.get(each.id)),
                )
                for run, found in zip(runs, excesses, strict=True)
            ),
        )
        for each in results.chains
    )
    observed = [
        Observed(
            run.cause_effect_samples(),
            run.stalls(),
            found,
            run.cause_effect_times() if run.results.streamed else {},
        )
        for run, found in zip(runs, excesses, strict=True)
    ]
    sampling = tuple(
        with_sampling_bounds(
            each, prediction.cause_effect_chains.get(each.id), prediction.chains, observed
        )
        for each in results.cause_effect_chains
    )
    return replace(results, chains=chains, cause_effect_chains=sampling)


def _with_prediction(
    chain: ChainResult,
    prediction: Prediction,
    above: Sequence[Excess],
    worst: Sequence[int],
    exceeded: int,
) -> ChainResult:
    """`exceeded`: the number of instances that are certainly above the bound; of a run that
    streamed, `above` has only those of them that are kept."""
    predicted = prediction.chains.get(chain.id)
    if predicted is None:
        return chain
    return replace(
        chain,
        predicted=ChainPrediction(
            bound_ms=predicted.bound_ms,
            verdict=predicted.verdict,
            assumptions=predicted.assumptions,
            note=predicted.note,
            exceeded=exceeded,
            exceeded_host=sum(excess.by_host for excess in above),
            exceeded_broken=sum(excess.cause == ASSUMPTION for excess in above),
            exceeded_why=_worst_explained(above),
            steps=tuple(
                Step(callback, bound, to_ms(time) if time >= 0 else None)
                for callback, bound, time in zip(
                    predicted.callbacks, predicted.step_bounds_ms, worst, strict=True
                )
            ),
        ),
    )


def _worst_explained(above: Sequence[Excess]) -> tuple[str, ...]:
    """Describes the instances above their bound that no stall of the host explains, at most
    MOST_TOLD of them, the longest response first. Instances that never ended come before all
    others."""
    own = [excess for excess in above if not excess.by_host]
    own.sort(key=lambda excess: -math.inf if excess.response is None else -excess.response)
    return tuple(str(excess) for excess in own[:MOST_TOLD])


def add_to_results_file(directory: Path, results: Results) -> None:
    """Adds the bounds to the results.json of a single run, beside what its runner wrote."""
    document = JsonValue.load(directory / RESULTS).object()
    for stated, each in zip(document["chains"], results.chains, strict=True):
        if each.predicted:
            stated.update(each.predicted.to_json())
    for stated, sampled in zip(
        document.get("cause_effect_chains", ()), results.cause_effect_chains, strict=True
    ):
        if sampled.predicted:
            stated.update({**asdict(sampled.predicted), **sampled.ways_json()})
    write_atomically(directory / RESULTS, json.dumps(document, indent=2) + "\n")


def judgement(executors: Sequence[Results]) -> tuple[int, list[str]]:
    """Returns the exit code for observations above bounds, and a sentence for each chain that has
    any.

    The code is 3 if an observation is above a proved bound and no stall of the host explains it,
    otherwise 0.
    """
    code, said = EXIT_OK, []
    for results in executors:
        if results.simulated is not None:
            continue
        for text, number, assumptions, broken in _above_bounds(results):
            status = analysis().status_of(number, len(assumptions), results.context["realtime"])
            if status == "holds":
                continue
            if status == "condition broken":
                said.append(
                    f"{text}; at least one of these assumptions does not hold: "
                    f"{'; '.join(assumptions)}"
                )
                continue
            said.append(f"{text}{broken}; docs/explanation/measuring.md says how to tell what does")
            code = EXIT_ABOVE_BOUND
    return code, said


def _above_bounds(results: Results) -> Iterator[tuple[str, int, tuple[str, ...], str]]:
    """Yields, for each chain with observations above a bound that no stall explains: a sentence,
    their number, the conditions of the bound, and what was measured to be broken."""
    for each in results.chains:
        own = each.predicted
        if own is not None and own.exceeded_own:
            broken = (
                f"; in {own.exceeded_broken} of them another assumption was measured not to hold"
                if own.exceeded_broken
                else ""
            )
            text = (
                f"{results.executor}: {own.exceeded_own} of {each.released} instances of chain "
                f"{each.id} are above its bound of {own.bound_ms:g} ms, and no measured stall "
                "explains it"
            )
            yield text, own.exceeded_own, own.assumptions, broken
    for sampled in results.cause_effect_chains:
        bounds = sampled.predicted
        if bounds is not None and bounds.above_own:
            text = (
                f"{results.executor}: {bounds.above_own} reactions or ages of cause-effect chain "
                f"{sampled.id} are above their bounds of {exact(bounds.reaction_bound_ms)} and "
                f"{exact(bounds.age_bound_ms)} ms, and no measured stall explains it"
            )
            yield text, bounds.above_own, bounds.assumptions, ""
