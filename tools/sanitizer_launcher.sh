# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# To be sourced with $preset set. Sets $launcher to the command that starts programs of that preset.

# The sanitizers use spin locks: a SCHED_FIFO thread spins forever if a thread of lower priority
# holds the lock. So sanitized tests run without the permission for real-time scheduling.
launcher=
case $preset in
  asan | tsan | rtsan)
    launcher="prlimit --rtprio=0:0"
    [ "$(id -u)" = 0 ] && launcher="$launcher setpriv --inh-caps=-sys_nice --bounding-set=-sys_nice"
    ;;
esac
# ThreadSanitizer cannot map its shadow memory if address space randomization is too wide.
if [ "$preset" = tsan ] && [ "$(cat /proc/sys/vm/mmap_rnd_bits)" -gt 28 ]; then
  launcher="$launcher setarch -R"
fi
