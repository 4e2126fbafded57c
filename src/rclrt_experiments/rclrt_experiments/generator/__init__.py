# SPDX-License-Identifier: Apache-2.0
"""Generates applications from rules."""
