# SPDX-License-Identifier: Apache-2.0
"""Properties under Hypothesis."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def let_properties_take_their_time() -> None:
    """Sets Hypothesis so that no property fails because the machine is busy."""
    settings.register_profile(
        "no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("no clock")
