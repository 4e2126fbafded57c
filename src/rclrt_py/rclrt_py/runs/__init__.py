# SPDX-License-Identifier: Apache-2.0
"""The output of a run: its files, their rows, and their meaning."""
