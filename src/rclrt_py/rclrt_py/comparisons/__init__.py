# SPDX-License-Identifier: Apache-2.0
"""Measures executors in rounds, merges the rounds and gives the verdict on them."""
