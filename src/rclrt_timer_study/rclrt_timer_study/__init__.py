# SPDX-License-Identifier: Apache-2.0
"""Experiments over many generated applications under several executors."""
