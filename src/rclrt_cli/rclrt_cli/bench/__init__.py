# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks measured, as tables and pictures."""
