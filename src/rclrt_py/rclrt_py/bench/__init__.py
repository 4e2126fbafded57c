# SPDX-License-Identifier: Apache-2.0
"""Tables and pictures of benchmark results."""
