# SPDX-License-Identifier: Apache-2.0
"""Adds bounds to observations: in the results, in their file, and as an exit code."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rclrt_py.bounds.excesses import ASSUMPTION, Excess, load_excesses
from rclrt_py.bounds.predicted import PredictedSampling, Prediction, Predictions
from rclrt_py.bounds.steps import worst_steps
from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_OK
from rclrt_py.files.atomic import write_atomically
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis
from rclrt_py.runs.cause_effect import CauseEffectResult, SamplingPrediction
from rclrt_py.runs.results import ChainPrediction, ChainResult, Results, Step
from rclrt_py.runs.run_data import RESULTS, CauseEffectSamples, Run
from rclrt_py.stats import to_ms

MOST_TOLD = 3


def with_predictions(
    results: Results, runs: Sequence[Run], predictions: Predictions | None
) -> Results:
    """Returns the results of an executor with its bounds, if there are any."""
    prediction = predictions.executors.get(results.executor) if predictions else None
    if prediction is None:
        return results
    above: dict[str, list[Excess]] = {chain.id: [] for chain in results.chains}
    for run in runs:
        for excess in load_excesses(run, prediction.chains.values()):
            above[excess.chain].append(excess)
    worst = worst_steps(runs, prediction.chains.values())
    chains = tuple(
        _with_prediction(chain, prediction, above[chain.id], worst.get(chain.id, []))
        for chain in results.chains
    )
    samples = [run.cause_effect_samples() for run in runs]
    sampling = tuple(
        _with_sampling(
            chain,
            prediction.cause_effect_chains.get(chain.id),
            [outputs[chain.id] for outputs in samples],
        )
        for chain in results.cause_effect_chains
    )
    return replace(results, chains=chains, cause_effect_chains=sampling)


def _with_sampling(
    chain: CauseEffectResult,
    predicted: PredictedSampling | None,
    samples: Sequence[CauseEffectSamples],
) -> CauseEffectResult:
    """Returns the result with its bounds, and the number of outputs above them."""
    if predicted is None:
        return chain

    def above(bound_ms: float | None, columns: Iterable[Iterable[int]]) -> int:
        limit = math.inf if bound_ms is None else round(bound_ms * 1e6)
        return sum(time > limit for column in columns for time in column)

    return replace(
        chain,
        predicted=SamplingPrediction(
            reaction_bound_ms=predicted.reaction_ms,
            age_bound_ms=predicted.age_ms,
            verdict=predicted.verdict,
            assumptions=predicted.assumptions,
            above_reaction_bound=above(
                predicted.reaction_ms, (sample.reactions for sample in samples)
            ),
            above_age_bound=above(predicted.age_ms, (sample.ages for sample in samples)),
            note=predicted.note,
        ),
    )


def _with_prediction(
    chain: ChainResult, prediction: Prediction, above: Sequence[Excess], worst: Sequence[int]
) -> ChainResult:
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
            exceeded=len(above),
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
    for stated, chain in zip(document["chains"], results.chains, strict=True):
        if chain.predicted:
            stated.update(chain.predicted.to_json())
    for stated, sampled in zip(
        document.get("cause_effect_chains", ()), results.cause_effect_chains, strict=True
    ):
        if sampled.predicted:
            stated.update(asdict(sampled.predicted))
    write_atomically(directory / RESULTS, json.dumps(document, indent=2) + "\n")


def judgement(executors: Sequence[Results]) -> tuple[int, list[str]]:
    """Returns the exit code for observations above bounds, and a sentence for each chain that has
    any.

    The code is 3 if an observation is above a proved bound and no stall of the host explains it,
    otherwise 0.
    """
    code, said = EXIT_OK, []
    for results in executors:
        for chain in results.chains:
            predicted = chain.predicted
            if predicted is None or not predicted.exceeded_own:
                continue
            text = (
                f"{results.executor}: {predicted.exceeded_own} of {chain.released} instances of "
                f"chain {chain.id} are above its bound of {predicted.bound_ms:g} ms, and no "
                "measured stall explains it"
            )
            if results.simulated is not None:
                continue
            status = analysis().status_of(
                predicted.exceeded_own, len(predicted.assumptions), results.context["realtime"]
            )
            if status == "holds":
                continue
            if status == "condition broken":
                said.append(
                    f"{text}; at least one of these assumptions does not hold: "
                    f"{'; '.join(predicted.assumptions)}"
                )
                continue
            broken = (
                f"; in {predicted.exceeded_broken} of them another assumption was measured not to "
                "hold"
                if predicted.exceeded_broken
                else ""
            )
            said.append(f"{text}{broken}; docs/explanation/measuring.md says how to tell what does")
            code = EXIT_ABOVE_BOUND
    return code, said
