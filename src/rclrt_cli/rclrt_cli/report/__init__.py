# SPDX-License-Identifier: Apache-2.0
"""report.html: one self-contained page, made of data computed here and drawn by data/*.js."""
