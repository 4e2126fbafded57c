# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced, with $preset set: sets $launcher to what a program of that preset has to be started with.

# The sanitizers' own locks spin, and never end when a SCHED_FIFO thread spins for one that a lower
# thread holds. So sanitized tests run without the permission for real-time scheduling.
launcher=
case $preset in
  asan | tsan | rtsan)
    launcher="prlimit --rtprio=0:0"
    [ "$(id -u)" = 0 ] && launcher="$launcher setpriv --inh-caps=-sys_nice --bounding-set=-sys_nice"
    ;;
esac
# ThreadSanitizer cannot map its shadow memory when addresses are too random.
if [ "$preset" = tsan ] && [ "$(cat /proc/sys/vm/mmap_rnd_bits)" -gt 28 ]; then
  launcher="$launcher setarch -R"
fi
