// SPDX-License-Identifier: Apache-2.0
// The state of a recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "rclcpp_names.hpp"
#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/realtime/periodic_drain.hpp"
#include "rclrt/recorder/host_probe.hpp"
#include "rclrt/recorder/instance_inbox.hpp"
#include "rclrt/recorder/instance_log.hpp"
#include "rclrt/recorder/recording_stream.hpp"
#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/run_accounting.hpp"
#include "rclrt/recorder/snapshot_writer.hpp"
#include "rclrt/recorder/whole_recording.hpp"
#include "rclrt/recorder/write_schedule.hpp"
#include "rclrt_rclcpp/observer.hpp"
#include "rclrt_robot/recording.hpp"

namespace rclrt_robot {

namespace model = rclrt::model;
namespace recorder = rclrt::recorder;

using rclrt_rclcpp::CallbackFacts;
using rclrt_rclcpp::ExecutorObserver;
using rclrt_rclcpp::Kept;
using rclrt_rclcpp::ObservedEntity;

/// Returns a readable time: "12.5 ms".
std::string milliseconds(model::Nanoseconds time);

/// The implementation of a Recording. Executors call these functions while they hold their locks,
/// so no function of an executor is called while `mutex_` is held. A real-time thread may wait for
/// it (a robot that spins by itself, or makes clients while it runs), so the threads at normal
/// priority hold it only to copy: they read files, count and write without it.
///
/// The way of an instance: a worker pushes it into the queue of the log, wait-free. The log's
/// thread passes it on to the inbox. The recording's own thread takes it from there ten times a
/// second: it counts it and, as long as there is room, keeps it as well. Once in a while it writes
/// the results so far. Both threads have normal priority.
class Recording::Impl {
 public:
  explicit Impl(RecordingOptions options);

  /// One executor. Its sink passes instances on to the user's sink, too.
  class Part final : public ExecutorObserver {
   public:
    Part(std::shared_ptr<Impl> recording, std::uint32_t index, engine::InstanceSink* also)
        : recording_(std::move(recording)),
          index_(index),
          log_(recording_->log_, index),
          also_(also) {}
    void record(const engine::InstanceRecord& record) noexcept override {
      log_.record(record);
      if (also_ != nullptr) {
        also_->record(record);
      }
    }

    void on_engine_start(const engine::Executor& engine) override {
      recording_->set_engine(index_, &engine);
    }
    void on_engine_end() override { recording_->set_engine(index_, nullptr); }
    void on_spin_begin() override { recording_->begin_spin(); }
    void on_spin_end() override { recording_->end_spin(); }
    void on_second() override { recording_->note_threads(); }
    std::uint32_t number(const CallbackFacts& facts) override {
      return recording_->number(index_, facts);
    }
    void on_added(std::uint32_t number, const std::shared_ptr<engine::Callback>& callback,
                  const std::shared_ptr<const ObservedEntity>& entity) override {
      recording_->add(number, {callback, entity});
    }
    void on_removed(const engine::Callback& callback) override { recording_->retire(callback); }
    void on_publications(const std::string& node, const std::set<std::string>& topics) override {
      recording_->publishes(node, topics);
    }
    void on_message_taken(std::int64_t published_ns) noexcept override {
      recorder::InstanceLog::set_published(published_ns);
    }

   private:
    const std::shared_ptr<Impl> recording_;
    const std::uint32_t index_;
    recorder::InstanceLog::Sink log_;
    engine::InstanceSink* const also_;
  };

  static std::unique_ptr<Part> join(const std::shared_ptr<Impl>& self,
                                    const model::ExecutorChoice& choice,
                                    const engine::ExecutorOptions& options);

  void start();
  std::vector<std::string> write();

 private:
  /// A callback that is in its executor now.
  struct Running {
    std::shared_ptr<engine::Callback> callback;
    std::shared_ptr<const ObservedEntity> entity;
  };
  struct Row {
    model::CallbackPlace place;
    CallbackFacts facts;
    std::uint32_t executor = 0;
    std::vector<Running> callbacks;
    recorder::CallbackCounts left;  // of callbacks that have left it
    bool is_seen = false;           // an instance has arrived
    std::optional<int> level;       // of the latest callback; none: there never was one
    std::optional<int> kernel_priority;
    bool goes_on = false;  // when the last spin ended
  };
  struct Joined {
    model::Executor executor;
    const engine::Executor* engine = nullptr;  // nullptr: not made yet, or ended
    recorder::RealtimeState realtime;
  };

  void note_threads();
  void set_engine(std::uint32_t index, const engine::Executor* engine);
  std::uint32_t number(std::uint32_t executor, const CallbackFacts& facts);
  void publishes(const std::string& node, const std::set<std::string>& topics);
  void add(std::uint32_t number, const Running& callback);
  void retire(const engine::Callback& callback);
  void begin_spin();
  void end_spin();
  void start_locked();
  void note_active_rows(Kept& kept);
  void save_engine_values(std::uint32_t index);
  static recorder::CallbackCounts counts_of(const Row& row);

  void build(model::Application& application, std::vector<std::size_t>& indices) const;
  static std::map<model::CallbackPlace, std::size_t> indices_of(
      const std::optional<model::Application>& stated);
  static void set_real_values(const Row& row, model::Callback& callback);
  void note_differences(const model::Application& application,
                        const std::vector<std::size_t>& indices,
                        std::vector<std::string>& notes) const;
  static std::optional<std::string> group_of(const Row& row);
  std::vector<std::set<std::string>> publications_of(const model::Application& application) const;
  recorder::MaxAges max_ages(const std::vector<std::size_t>& indices) const;
  recorder::RunContext read_context(const std::vector<recorder::RealtimeState>& realtime) const;
  // The parts of `write`.
  void end_window(Kept& kept);
  recorder::RunResults finish_whole(std::vector<std::string>& notes);
  recorder::RunResults finish_streamed(std::vector<std::string>& notes);
  static void renumber(std::vector<recorder::LoggedInstance>& instances,
                       const std::vector<std::size_t>& indices, std::int64_t since_ns);
  std::vector<bool> going_on(const std::vector<std::size_t>& indices, std::size_t callbacks) const;
  void set_executor(recorder::RunResults& results, const std::vector<std::size_t>& indices) const;
  std::vector<recorder::RealtimeState> describe(recorder::RunResults& results,
                                                const std::vector<std::size_t>& indices) const;

  // The live part, of the recording's own thread except where it says otherwise.
  void make_stream();   // before the thread begins to count
  void begin_stream();  // the same
  void pass();
  void fail(const char* reason) noexcept;
  void throw_failure() const;
  static void warn(const char* what, const char* reason) noexcept;
  void do_due();
  void keep(std::span<const recorder::LoggedInstance> instances,
            std::span<const recorder::HostStall> stalls);
  void update(std::span<const recorder::LoggedInstance> instances);
  std::optional<std::int64_t> ended();
  void write_so_far(std::int64_t horizon_ns);
  std::chrono::nanoseconds write_every() const;

  static constexpr std::size_t kLeftOut = SIZE_MAX;  // an index: not in the application
  static constexpr const char* kSkippedChains =
      "not every way to a callback with a largest age is a chain of the report: state an "
      "application";

  const RecordingOptions options_;
  const std::optional<model::Application> stated_;
  const std::string sha256_;                                 // of its file, when it was loaded
  const std::map<model::CallbackPlace, std::size_t> named_;  // its callbacks
  recorder::ResultsDirectory directory_;

  std::mutex mutex_;              // guards what follows, up to the inbox
  model::ExecutorChoice choice_;  // of all the executors
  std::vector<Joined> joined_;
  std::vector<Row> rows_;  // by number
  std::map<model::CallbackPlace, std::uint32_t> numbers_;
  std::map<std::string, std::set<std::string>> publishes_;  // by node: topics, of all that it had
  std::unique_ptr<recorder::HostProbe> probe_;              // once it has started
  recorder::RunResults results_;
  std::optional<double> steal_before_;
  int spins_ = 0;                         // under way
  std::optional<std::int64_t> ended_ns_;  // when the last one ended, while none is under way
  std::uint64_t changes_ = 0;             // of what the application is made of
  bool written_ = false;

  recorder::InstanceInbox inbox_;  // closed when nothing is counted any more

  // Used by the recording's own thread, after begin_stream() and until it has ended.
  recorder::RunResults frame_;  // with the application found so far
  std::unique_ptr<recorder::RecordingStream> stream_;
  std::vector<std::string> left_out_;  // chains
  recorder::SnapshotWriter writer_;
  std::vector<std::size_t> indices_;  // by number: the index in the frame's application
  std::optional<std::uint64_t> seen_changes_;
  std::vector<recorder::LoggedInstance> batch_;
  recorder::WholeRecording whole_;  // with numbers of the recording
  std::exception_ptr failure_;      // after it, nothing is counted and nothing is written
  bool said_dropped_ = false;
  std::size_t uncounted_ = 0;   // instances that are taken from the inbox
  std::int64_t passed_ns_ = 0;  // the time of the latest pass
  std::int64_t next_count_ns_ = 0;
  recorder::WriteSchedule writes_{write_every()};
  std::uint64_t written_instances_ = 0;

  recorder::InstanceLog log_;             // its thread uses the inbox
  rclrt::realtime::PeriodicDrain drain_;  // last: its thread uses all of the above
};

}  // namespace rclrt_robot
