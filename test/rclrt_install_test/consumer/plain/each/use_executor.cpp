// SPDX-License-Identifier: Apache-2.0
// Runs a callback three times on the engine; the third run stops it.
#include <atomic>
#include <cstdio>
#include <memory>
#include <rclrt/executor/preemptive_executor.hpp>
#include <rclrt/executor/timer.hpp>

namespace {

class Counter final : public rclrt::executor::TimerCallback {
 public:
  explicit Counter(rclrt::executor::Executor& executor)
      : TimerCallback({.name = "counter", .type = rclrt::executor::EntityType::kTimer},
                      {.period_ns = 1'000'000}),
        executor_(executor) {}

  int runs() const { return runs_; }

 private:
  rclrt::executor::Outcome run(rclrt::executor::InstanceInfo&) override {
    if (++runs_ == 3) {
      executor_.cancel();
    }
    return rclrt::executor::Outcome::kRan;
  }

  rclrt::executor::Executor& executor_;
  std::atomic<int> runs_{0};
};

}  // namespace

int main() {
  rclrt::executor::PreemptiveExecutor executor({.workers_per_level = 1});
  const auto counter = std::make_shared<Counter>(executor);
  executor.add(counter);
  executor.spin();
  std::printf("%s\n", counter->runs() >= 3 ? "ran three times" : "did not run");
}
