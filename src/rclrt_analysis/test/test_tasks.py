# SPDX-License-Identifier: Apache-2.0
import pytest
import rclrt_analysis


def test_the_bound_of_liu_and_layland_for_two_tasks() -> None:
    assert rclrt_analysis.liu_layland_bound(2) == pytest.approx(0.8284, abs=5e-5)
