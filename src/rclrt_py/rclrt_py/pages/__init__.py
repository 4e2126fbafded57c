# SPDX-License-Identifier: Apache-2.0
"""Parts of pictures and HTML pages."""
