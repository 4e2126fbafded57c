# SPDX-License-Identifier: Apache-2.0
"""Makes report.html, one self-contained page: data is computed here and drawn by data/*.js."""
