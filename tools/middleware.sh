# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh  # sourced by tools/env, after it has set the paths of the packages
# Selects the middleware that RMW names. Exit code 2 if it is not installed.

# has_package PACKAGE: whether it is installed.
has_package() {
  "$root/tools/prefix_of" "$1" >/dev/null
}

if [ -n "${RMW:-}" ]; then
  case $RMW in
    rmw_*) rmw=$RMW ;;
    *) rmw=rmw_${RMW}_cpp ;;
  esac
  if ! has_package "$rmw"; then
    echo "error: RMW=$RMW: the middleware $rmw is not installed for ROS 2 $distro ($ros_from)." >&2
    if [ "$ros_from" = wheels ]; then
      echo "fix: build rmw_implementation and $rmw in a workspace on these wheels, and name its install folder:" >&2
      echo "     UNDERLAY=<folder> RMW=$RMW; or source an installed ROS 2 that has $rmw" >&2
    else
      echo "fix: apt install ros-$distro-$(echo "$rmw" | tr _ -), or UNDERLAY=<install folder of a workspace that has it>" >&2
    fi
    exit 2
  fi
  set_var RMW_IMPLEMENTATION "$rmw"
fi

# The rcl of the wheels is linked to Fast DDS itself, and follows no RMW_IMPLEMENTATION. The library
# rmw_implementation of another workspace, loaded before it, has the same functions and follows it.
if [ "$ros_from" = wheels ]; then
  chooser=${UNDERLAY:+$underlay/lib/librmw_implementation.so}
  if [ -n "$chooser" ] && [ -f "$chooser" ]; then
    case $chooser in
      *\ *)
        echo "error: UNDERLAY=$UNDERLAY: LD_PRELOAD ends a name at a blank, so its rmw_implementation cannot be loaded." >&2
        echo "fix: name the folder through a link without a blank" >&2
        exit 2
        ;;
    esac
    set_var LD_PRELOAD "$chooser${LD_PRELOAD:+:$LD_PRELOAD}"
  elif [ -n "${rmw:-}" ] && [ "$rmw" != rmw_fastrtps_cpp ]; then
    echo "error: RMW=$RMW: the rcl of the wheels runs only on rmw_fastrtps_cpp, to which it is linked." >&2
    echo "fix: build rmw_implementation in the workspace of UNDERLAY, beside $rmw: it makes this a choice" >&2
    exit 2
  fi
fi

# Cyclone DDS sends through the interface that looks best, not through the loopback. This keeps it on
# this machine, as ROS_AUTOMATIC_DISCOVERY_RANGE does for the other middlewares.
if [ "${RMW_IMPLEMENTATION:-}" = rmw_cyclonedds_cpp ] && [ -z "${CYCLONEDDS_URI:-}" ] &&
  [ "${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}" = LOCALHOST ]; then
  set_var CYCLONEDDS_URI '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces></General></Domain></CycloneDDS>'
fi
