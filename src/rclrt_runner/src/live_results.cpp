// SPDX-License-Identifier: Apache-2.0
#include "live_results.hpp"

#include <cstdio>
#include <new>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::runner {

namespace {

constexpr std::chrono::milliseconds kPass{100};
constexpr std::int64_t kSecond_ns = 1'000'000'000;
/// A run that is asked to last longer than this writes results before its end.
constexpr std::chrono::seconds kShort{60};
constexpr std::int64_t kFirstWrite_ns = 2 * kSecond_ns;
/// The memory for copies and texts while results are written. It is taken when the run begins to
/// stream, because the heap would otherwise grow for some minutes, by a few MB.
constexpr std::size_t kHeapToWrite = std::size_t{32} << 20;

void say_that_it_streams(std::size_t keep_all) {
  std::fprintf(stderr,
               "rclrt: more than %zu instances: the run streams; counts, extremes and means are "
               "exact, percentiles are at most 0.1 %% too large, and single instances are kept of "
               "the worst and of the end (--keep)\n",
               keep_all);
}

}  // namespace

LiveResults::LiveResults(const recorder::RunResults& results, recorder::HostProbe& probe,
                         Options options)
    : frame_(results),
      probe_(probe),
      options_(std::move(options)),
      stream_(results, realtime::allowed_cpus().size(), options_.limits),
      drain_("rclrt results", kPass, [this] { pass(); }) {
  if (recorder::expected_instances(results.application, options_.duration) >
      options_.limits.keep_all) {
    stream_.stream();
    say_that_it_streams(options_.limits.keep_all);
    said_ = true;
  }
}

void LiveResults::begin() {
  writes_.begin(frame_.window.start_ns + kFirstWrite_ns);
  inbox_.open();
}

void LiveResults::take_inbox() {
  if (!inbox_.take(batch_)) {
    return;
  }
  const std::uint64_t before = stream_.instances();
  try {
    stream_.add(batch_);
  } catch (const std::bad_alloc&) {  // some of them may be in it
    inbox_.drop(batch_.size() - (stream_.instances() - before));
  }
  if (stream_.streams() && !said_) {
    say_that_it_streams(options_.limits.keep_all);
    said_ = true;
  }
}

bool LiveResults::writes_meanwhile() const {
  return options_.write && (stream_.streams() || options_.duration > kShort);
}

/// Does what is due. If the system has no memory left (with locked memory that is limited, for
/// example), instances are dropped and counted: that is better than the end of the program.
void LiveResults::pass() {
  try {
    do_due();
  } catch (const std::bad_alloc&) {
    if (!std::exchange(said_no_memory_, true)) {
      std::fprintf(stderr, "rclrt: the run goes on, but there is no memory for its results\n");
    }
  }
}

void LiveResults::do_due() {
  if (!inbox_.is_open()) {
    return;
  }
  stream_.add_stalls(probe_.take());  // before the instances that they excuse
  take_inbox();
  if (stream_.streams() && options_.write && !std::exchange(has_heap_, true)) {
    realtime::prefault_thread_heap(kHeapToWrite);  // if it fails, a write says so
  }
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  if (now_ns < next_count_ns_) {
    return;
  }
  next_count_ns_ = now_ns + kSecond_ns;
  if (writes_meanwhile() && now_ns > frame_.window.start_ns + kSecond_ns) {
    stream_.advance(now_ns - kSecond_ns);
    write(now_ns);
  }
}

/// Writes the results so far, if it is time.
void LiveResults::write(std::int64_t now_ns) {
  if (!writes_.is_due(now_ns) || now_ns - kSecond_ns >= frame_.window.end_ns) {
    return;
  }
  recorder::RunResults results = frame_;
  results.end = recorder::RunEnd::kRunning;
  // Everything that ended before has arrived.
  results.window.end_ns = now_ns - kSecond_ns;
  results.context.records_dropped = dropped();
  stream_.fill(results, recorder::WriteSchedule::kInstances);
  options_.write(results);
  writes_.wrote(now_ns, realtime::monotonic_now_ns());
}

void LiveResults::finish(recorder::RunResults& results) {
  drain_.stop();
  stream_.add_stalls(probe_.take());
  take_inbox();
  stream_.finish(results);
}

}  // namespace rclrt::runner
