// SPDX-License-Identifier: Apache-2.0
#include "exercise/pendulum_exercise.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <rclrt/executors.hpp>
#include <utility>

#include "exercise/pendulum.hpp"
#include "exercise/pendulum_node.hpp"
#include "exercise/spin_thread.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::demos {

namespace {

using namespace std::chrono_literals;
using realtime::Release;

constexpr std::chrono::nanoseconds kPeriod = 1ms;
constexpr std::uint64_t kCyclesPerPoint = 10;  // for each point of the picture

/// The loop that balances the pendulum. All memory for its records is allocated beforehand.
class ControlLoop {
 public:
  ControlLoop(Session& session, PendulumData& data)
      : data_(data),
        track_(session.add_track("rt_thread")),
        points_(session.samples(kPeriod * kCyclesPerPoint)),
        get_desired_position_(add(session, "GetDesiredPosition")),
        read_sensor_(add(session, "ReadSensor")),
        get_command_(add(session, "GetCommand")),
        get_pid_constants_(add(session, "GetPIDConstants")),
        write_command_(add(session, "WriteCommand")),
        update_queue_(add(session, "UpdateQueue")) {}

  /// One cycle.
  void operator()(const Release& release) noexcept {
    const std::int64_t now_ns = realtime::monotonic_now_ns();
    const double dt =
        static_cast<double>(last_ns_ == 0 ? kPeriod.count() : now_ns - last_ns_) / 1e9;
    last_ns_ = now_ns;
    if (data_.reset.exchange(false)) {
      pendulum_.reset();
    }
    const double desired = get_desired_position();
    const double position = read_sensor(dt);
    write_command(get_command(position, desired, dt));
    update_queue(position);
    keep_point(release, now_ns, position, desired);
  }

  std::uint64_t lost_samples() const noexcept { return lost_samples_; }

  /// Moves the points of the picture to the results.
  void finish(Results& results) {
    points_.resize(point_count_);
    results.pendulum = std::move(points_);
  }

 private:
  Slice& add(Session& session, const char* name) {
    return track_.add_slice(name, session.samples(kPeriod));
  }

  double get_desired_position() noexcept {
    const Measure measure(get_desired_position_);
    return data_.desired.get();
  }

  double read_sensor(double dt) noexcept {
    const Measure measure(read_sensor_);
    return pendulum_.read_sensor(dt);
  }

  double get_command(double position, double desired, double dt) noexcept {
    const Measure measure(get_command_);
    return controller_.command(position, desired, get_pid_constants(), dt);
  }

  PidConstants get_pid_constants() noexcept {
    const Measure measure(get_pid_constants_);
    return data_.constants.get();
  }

  void write_command(double command) noexcept {
    const Measure measure(write_command_);
    pendulum_.write_command(command);
  }

  void update_queue(double position) noexcept {
    const Sample sample{realtime::read_clock_ns(CLOCK_REALTIME), position};
    const Measure measure(update_queue_);
    lost_samples_ += data_.samples.push(sample) ? 0 : 1;
  }

  void keep_point(const Release& release, std::int64_t now_ns, double position,
                  double desired) noexcept {
    if (first_ns_ == 0) {
      first_ns_ = now_ns;
    }
    if (release.index >= next_point_ && point_count_ < points_.size()) {
      points_[point_count_++] = {static_cast<double>(now_ns - first_ns_) / 1e9, position, desired};
      next_point_ = release.index + kCyclesPerPoint;
    }
  }

  PendulumData& data_;
  Track& track_;
  Pendulum pendulum_;
  PidController controller_;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::uint64_t next_point_ = 0;
  std::uint64_t lost_samples_ = 0;
  std::size_t point_count_ = 0;
  std::vector<std::array<double, 3>> points_;
  Slice& get_desired_position_;
  Slice& read_sensor_;
  Slice& get_command_;
  Slice& get_pid_constants_;
  Slice& write_command_;
  Slice& update_queue_;
};

void note_counts(Session& session, const realtime::CyclicCounts& counts) {
  session.note("cycles", counts.cycles);
  session.note("missed_cycles", counts.missed);
  session.note("overruns", counts.overruns);
  session.note("missed_deadlines", counts.deadline_misses);
}

}  // namespace

void run_pendulum(Session& session, DesiredPosition& desired, SharedPidConstants& constants,
                  SampleQueue& samples, std::function<void()> without_deadline) {
  PendulumData data{desired, constants, samples};
  const auto context = Context::make(0, nullptr, {.handle_signals = false});
  const PendulumNode node(context, data);
  WaitSetExecutor executor(context,
                           {.name = "ros", .cpus = {session.cpu()}, .realtime = Realtime::kOff});
  executor.add_node(node.node());

  ControlLoop loop(session, data);
  realtime::CyclicThread control(
      {.thread = {.name = "rt_thread", .scheduling = session.fifo(kControlPriority)},
       .period_ns = kPeriod.count(),
       .overrun = realtime::OverrunPolicy::kSkip},
      [&loop](const Release& release) { loop(release); });
  {
    const SpinThread ros(executor);
    realtime::Thread other;
    if (without_deadline) {
      other = realtime::Thread({.name = "no_deadline", .scheduling = session.normal()},
                               [&](const realtime::StopFlag& stop) {
                                 while (!stop.stop_requested()) {
                                   without_deadline();
                                 }
                               });
    }
    control.start();
    session.wait();
    control.stop();
  }

  note_counts(session, control.counts());
  session.note("lost_samples", loop.lost_samples());
  loop.finish(session.results());
}

}  // namespace rclrt::demos
