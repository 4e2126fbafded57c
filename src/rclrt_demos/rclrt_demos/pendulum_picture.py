# SPDX-License-Identifier: Apache-2.0
"""The pendulum of exercises 2-1 to 2-3 over time: where it was, and where it should have been."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rclrt_py.pages.svg import FAINT, GRID, WIDTH, picture, text
from rclrt_py.pages.svg import line as straight

from rclrt_demos.histogram import COLOURS
from rclrt_demos.measured import State
from rclrt_demos.rounds import Outcome

LEFT, RIGHT, TOP, PANEL, GAP = 62.0, 32.0, 44.0, 120.0, 40.0
ANGLES = ((-math.pi / 2, "-π/2"), (0.0, "0"), (math.pi / 2, "π/2"))
POINTS = 900
"""More would not be seen."""


def draw(outcome: Outcome) -> str:
    """An SVG of the first round of each variant; empty if the exercise has no pendulum."""
    states = {variant: outcome.pooled(variant).pendulum for variant in outcome.variants}
    if not all(states.values()):
        return ""
    end = max(own[-1].time_s for own in states.values()) or 1.0
    parts = [
        text(
            16, 24, f"Exercise {outcome.exercise.name}: angle of the pendulum", bold=True, size=15
        ),
        text(WIDTH - RIGHT, 24, "grey: where it should be", FAINT, "end"),
    ]
    top = TOP
    for variant, own in states.items():
        paint = COLOURS[variant]
        label = outcome.exercise.variant_label(variant)
        parts.append(text(LEFT, top + 10, label, paint, bold=True))
        parts += _panel(own, paint, top + 18, end)
        top += PANEL + GAP
    parts.append(text(WIDTH - RIGHT, top - 4, f"{end:.3g} s", FAINT, "end"))
    parts.append(text(LEFT, top - 4, "0 s", FAINT))
    return picture(parts, top + 12)


def _panel(states: Sequence[State], paint: str, top: float, end: float) -> Iterator[str]:
    def x(state: State) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * state.time_s / end

    def y(angle: float) -> float:
        inside = min(max(angle, -math.pi / 2), math.pi / 2)
        return top + PANEL * (0.5 - inside / math.pi)

    for angle, label in ANGLES:
        yield straight(LEFT, y(angle), WIDTH - RIGHT, y(angle), GRID)
        yield text(LEFT - 8, y(angle) + 4, label, FAINT, "end")
    thinned = states[:: max(1, len(states) // POINTS)]
    desired = " ".join(f"{x(state):.1f},{y(state.desired):.1f}" for state in thinned)
    position = " ".join(f"{x(state):.1f},{y(state.position):.1f}" for state in thinned)
    yield f'<polyline points="{desired}" fill="none" stroke="{FAINT}" stroke-opacity="0.6"/>'
    yield f'<polyline points="{position}" fill="none" stroke="{paint}" stroke-width="1.5"/>'
