# SPDX-License-Identifier: Apache-2.0
"""The tables of an analysis: lines that commands print, made from its document."""
