// SPDX-License-Identifier: Apache-2.0
#include "conduct.hpp"

#include <algorithm>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::bench {

namespace {

using realtime::monotonic_now_ns;

constexpr std::int64_t kStart_ns = 2'000'000'000;  // for the threads of 90 levels
constexpr std::int64_t kGrace_ns = 200'000'000;    // for the last work to run

class Conductor {
 public:
  Conductor(const Setting& setting, const Stimulus& stimulus,
            const std::vector<Observer*>& observers, const realtime::StopFlag& stop)
      : setting_(setting), stimulus_(stimulus), observers_(observers), stop_(stop) {}

  void run() {
    next_ns_ = monotonic_now_ns();
    const std::int64_t start_limit = next_ns_ + kStart_ns;
    do {
      periods(stimulus_.warm_up, stimulus_.act);
    } while (go_on() && !observers_.front()->warm() && monotonic_now_ns() < start_limit);
    periods(stimulus_.warm_up, {});  // completes the backlog of the start before the first sample
    for (Observer* observer : observers_) {
      observer->open();
    }
    periods(stimulus_.samples, stimulus_.act);
    const std::int64_t limit = monotonic_now_ns() + kGrace_ns;
    while (go_on() && !done() && monotonic_now_ns() < limit) {
      realtime::sleep_until_ns(monotonic_now_ns() + kPeriod_ns);
    }
  }

 private:
  bool go_on() const { return !stop_.stop_requested() && setting_.context->ok(); }
  bool done() const {
    return std::all_of(observers_.begin(), observers_.end(),
                       [](const Observer* observer) { return observer->done(); });
  }
  void periods(std::size_t count, const std::function<void(std::size_t)>& act) {
    if (!act) {
      next_ns_ += static_cast<std::int64_t>(count) * stimulus_.period_ns;
      realtime::sleep_until_ns(next_ns_);
      return;
    }
    for (std::size_t i = 0; i < count && go_on(); ++i) {
      next_ns_ += stimulus_.period_ns;
      realtime::sleep_until_ns(next_ns_);
      act(number_++);
    }
  }

  const Setting& setting_;
  const Stimulus& stimulus_;
  const std::vector<Observer*>& observers_;
  const realtime::StopFlag& stop_;
  std::int64_t next_ns_ = 0;
  std::size_t number_ = 0;
};

}  // namespace

void conduct(Contender& contender, const Setting& setting, const Stimulus& stimulus,
             const std::vector<Observer*>& observers) {
  contender.prepare();
  const realtime::Thread thread({.name = "stimulus", .scheduling = setting.stimulus()},
                                [&](const realtime::StopFlag& stop) {
                                  Conductor(setting, stimulus, observers, stop).run();
                                  contender.cancel();
                                });
  contender.spin();
}

}  // namespace rclrt::bench
