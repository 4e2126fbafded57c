# SPDX-License-Identifier: Apache-2.0
"""Compares the bounds of the analysis with observations."""
