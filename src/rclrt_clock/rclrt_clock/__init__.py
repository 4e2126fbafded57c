# SPDX-License-Identifier: Apache-2.0
"""`rclrt clock`: the offsets between the clocks of a robot's hosts, as intervals."""
