# SPDX-License-Identifier: Apache-2.0
"""Responses, reaction times and data ages above proved bounds, each with its schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rclrt_py.native import analysis

from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.feasibility import load

if TYPE_CHECKING:
    from rclrt_analysis import CounterExample

RESPONSE = "response"
REACTION = "reaction time"
AGE = "data age"
WHAT = {"deadline": RESPONSE, "reaction": REACTION, "age": AGE}
"""The kind of time that exceeds each limit of a counter-example."""


@dataclass(frozen=True)
class Violation:
    """A response, reaction time or data age above a proved bound, in an application from which
    nothing can be left out."""

    executor: str
    application: GeneratedApplication
    """Has its bounds as deadlines and limits, where there are any."""
    priorities: dict[str, int]
    chain: str
    bound_ns: int
    response_ns: int
    counter_example: str
    """The input of `rclrt simulate --replay`."""
    what: str = RESPONSE
    """The kind of time that is above its bound: RESPONSE, REACTION or AGE."""


def violation_of(
    found: CounterExample,
    attacked: GeneratedApplication,
    priorities: dict[str, int],
    executor: str,
) -> Violation:
    """Returns the violation that a counter-example shows. `attacked` has the bounds as deadlines
    and limits; with these priorities, it is the application of the counter-example."""
    model = load(attacked, priorities)
    if found.limit == "deadline":
        chain, bound_ns = model.chains[found.chain].id, attacked.deadlines_ns[found.chain]
    else:
        chain = model.cause_effect_chains[found.chain].id
        limits = attacked.limits_ns[found.chain]
        bound_ns = limits.age if found.limit == "age" else limits.reaction
    return Violation(
        executor=executor,
        application=attacked,
        priorities=priorities,
        chain=chain,
        bound_ns=bound_ns,
        response_ns=found.response_ns,
        counter_example=analysis().counter_example_text(found, model),
        what=WHAT[found.limit],
    )
