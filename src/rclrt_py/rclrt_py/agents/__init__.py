# SPDX-License-Identifier: Apache-2.0
"""Agents: the parts of a run on other hosts, and the connections to them."""
