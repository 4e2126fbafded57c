# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034  # the variables are for the scripts that source this file
# Decides which ROS 2 to build on. Needs $root; sets
#   distro    jazzy, kilted, ...
#   ros_from  "wheels" (from PyPI, in $venv) or "installation" (a ROS 2 sourced by the user)
#   venv      the Python environment with our tools, and with the wheels if they are used

# Returns whether the sourced ROS 2 has the packages that we need.
has_sourced_rcl() {
  old_ifs=$IFS
  IFS=:
  for prefix in ${AMENT_PREFIX_PATH:-}; do
    if [ -f "$prefix/share/rcl/package.xml" ]; then
      IFS=$old_ifs
      return 0
    fi
  done
  IFS=$old_ifs
  return 1
}

# RCLRT_ROS_FROM is set inside our own environment (tools/env); the ROS_DISTRO there is not the user's.
ros_from=${RCLRT_ROS_FROM:-}
if [ -z "$ros_from" ]; then
  if [ -n "${ROS_DISTRO:-}" ] && has_sourced_rcl; then
    ros_from=installation
  else
    ros_from=wheels
  fi
fi

if [ "$ros_from" = installation ]; then
  distro=$ROS_DISTRO
  venv=$root/.venv-ros-$distro
  if [ "${DISTRO:-$distro}" != "$distro" ]; then
    echo "error: DISTRO=$DISTRO, but ROS 2 $distro is sourced in this shell." >&2
    echo "fix: use a shell without ROS 2 (it takes the PyPI wheels), or source $DISTRO." >&2
    exit 2
  fi
else
  distro=${DISTRO:-${RCLRT_DISTRO:-jazzy}}
  case $distro in
    jazzy) venv=$root/.venv ;;
    *) venv=$root/.venv-$distro ;;
  esac
  if [ ! -f "$root/tools/wheels/$distro.txt" ]; then
    echo "error: no ROS 2 wheels are known for DISTRO=$distro." >&2
    echo "fix: use DISTRO=jazzy or DISTRO=kilted, or source an installed ROS 2 $distro." >&2
    exit 2
  fi
fi
