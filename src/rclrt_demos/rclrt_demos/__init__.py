# SPDX-License-Identifier: Apache-2.0
"""The exercises of the workshop: run, compared and drawn."""
