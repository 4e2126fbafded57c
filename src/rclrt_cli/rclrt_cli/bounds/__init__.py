# SPDX-License-Identifier: Apache-2.0
"""Bounds of the analysis beside what was observed."""
