# SPDX-License-Identifier: Apache-2.0
"""Workloads for callbacks: times them on this machine, and makes them from programs in C."""
