# SPDX-License-Identifier: Apache-2.0
"""`rclrt plan`: a page on which an application is changed and analysed."""
