# SPDX-License-Identifier: Apache-2.0
"""Adds bounds to observations: in the results, as a table, and as an exit code."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_OK
from rclrt_py.files.atomic import write_atomically
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis
from rclrt_py.runs.results import ChainPrediction, ChainResult, Results, Step
from rclrt_py.runs.run_data import RESULTS, Run
from rclrt_py.stats import to_ms

from rclrt_cli.bounds.excesses import ASSUMPTION, Excess, load_excesses
from rclrt_cli.bounds.predicted import Prediction, Predictions
from rclrt_cli.bounds.steps import worst_steps

WIDTHS = (12, 13, 9, 13, 17)
MOST_TOLD = 3
HEADS = ("bound ms", "observed ms", "share", "verdict", "above (by host)")


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
    return replace(results, chains=chains)


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
    """Describes the excesses that no stall explains, the longest response first.

    Instances that never ended come before all others.
    """
    own = [excess for excess in above if not excess.by_host]
    own.sort(key=lambda excess: -math.inf if excess.response is None else -excess.response)
    return tuple(str(excess) for excess in own[:MOST_TOLD])


def add_to_results_file(directory: Path, results: Results) -> None:
    """Adds the bounds to the results.json of a single run, beside what its runner wrote."""
    document = JsonValue.load(directory / RESULTS).object()
    for stated, chain in zip(document["chains"], results.chains, strict=True):
        if chain.predicted:
            stated.update(chain.predicted.to_json())
    write_atomically(directory / RESULTS, json.dumps(document, indent=2) + "\n")


def bound_lines(executors: Sequence[Results]) -> Iterator[str]:
    """Yields a line per chain and executor with a bound, and whether the bounds hold for this run.

    A chain above its bound is shown callback by callback. The report shows the callbacks of the
    other chains.
    """
    shown = [
        (results, chain, chain.predicted)
        for results in executors
        for chain in results.chains
        if chain.predicted
    ]
    if not shown:
        return
    names = [_name(results, chain, executors) for results, chain, _ in shown]
    steps = [each.steps[:-1] if _is_exceeded(each) else () for _, _, each in shown]
    ways = [f"  until {step.callback}" for each in steps for step in each]
    width = max(len(name) for name in [*names, *ways, "observed against bound"]) + 2
    yield ""
    yield "observed against bound".ljust(width) + _cells(HEADS)
    for name, (_, chain, predicted), way in zip(names, shown, steps, strict=True):
        bound, worst = predicted.bound_ms, chain.response.worst if chain.response else None
        above = str(predicted.exceeded)
        if predicted.exceeded:
            above += f" ({predicted.exceeded_host})"
        yield name.ljust(width) + _cells((*_times(bound, worst), predicted.verdict, above))
        for step in way:
            cells = _times(step.bound_ms, step.worst_ms)
            yield f"  until {step.callback}".ljust(width) + _cells((*cells, "", "")).rstrip()
        for why in predicted.exceeded_why:
            yield f"  {why}"
    if not all(results.context["realtime"] for results in executors):
        yield "Without real-time scheduling no bound holds; nothing here is held against one."


def _is_exceeded(predicted: ChainPrediction) -> bool:
    return predicted.exceeded > 0 or any(
        step.bound_ms is not None and step.worst_ms is not None and step.worst_ms > step.bound_ms
        for step in predicted.steps
    )


def judgement(executors: Sequence[Results]) -> tuple[int, list[str]]:
    """Returns the exit code and the reasons.

    The code is 3 if an observation is above a proved bound and the host did not cause it.
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


def _name(results: Results, chain: ChainResult, executors: Sequence[Results]) -> str:
    return chain.id if len(executors) == 1 else f"{chain.id}, {results.executor}"


def _times(bound: float | None, worst: float | None) -> tuple[str, str, str]:
    return (
        "-" if bound is None else f"{bound:.3f}",
        "-" if worst is None else f"{worst:.3f}",
        "-" if bound is None or worst is None else f"{worst / bound:.2f}",
    )


def _cells(cells: Sequence[str]) -> str:
    return "".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))
