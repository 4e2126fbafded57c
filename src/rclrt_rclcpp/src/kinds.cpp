// SPDX-License-Identifier: Apache-2.0
// The kinds of executors: one class for each, and all of them by their names.
#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_rclcpp {

namespace {

Options with(const rclcpp::ExecutorOptions& ros) {
  Options options;
  options.ros = ros;
  return options;
}

}  // namespace

PreemptiveExecutor::PreemptiveExecutor(const Options& options) : Executor(options, "preemptive") {}
PreemptiveExecutor::PreemptiveExecutor(const rclcpp::ExecutorOptions& options)
    : PreemptiveExecutor(with(options)) {}
PreemptiveExecutor::~PreemptiveExecutor() = default;

ProducerConsumerExecutor::ProducerConsumerExecutor(const Options& options)
    : Executor(options, "producer_consumer") {}
ProducerConsumerExecutor::ProducerConsumerExecutor(const rclcpp::ExecutorOptions& options)
    : ProducerConsumerExecutor(with(options)) {}
ProducerConsumerExecutor::~ProducerConsumerExecutor() = default;

ThreadDispatchExecutor::ThreadDispatchExecutor(const Options& options)
    : Executor(options, "thread_dispatch") {}
ThreadDispatchExecutor::ThreadDispatchExecutor(const rclcpp::ExecutorOptions& options)
    : ThreadDispatchExecutor(with(options)) {}
ThreadDispatchExecutor::~ThreadDispatchExecutor() = default;

EdfExecutor::EdfExecutor(const Options& options) : Executor(options, "edf") {}
EdfExecutor::EdfExecutor(const rclcpp::ExecutorOptions& options) : EdfExecutor(with(options)) {}
EdfExecutor::~EdfExecutor() = default;

PicasExecutor::PicasExecutor(const Options& options) : Executor(options, "picas") {}
PicasExecutor::PicasExecutor(const rclcpp::ExecutorOptions& options)
    : PicasExecutor(with(options)) {}
PicasExecutor::~PicasExecutor() = default;

PerGroupExecutor::PerGroupExecutor(const Options& options) : Executor(options, "per_group") {}
PerGroupExecutor::PerGroupExecutor(const rclcpp::ExecutorOptions& options)
    : PerGroupExecutor(with(options)) {}
PerGroupExecutor::~PerGroupExecutor() = default;

StaticOrderExecutor::StaticOrderExecutor(const Options& options,
                                         const engine::StaticOrderOptions& static_order)
    : Executor(options, "static_order", {.static_order = static_order}) {}
StaticOrderExecutor::StaticOrderExecutor(const rclcpp::ExecutorOptions& options)
    : StaticOrderExecutor(with(options)) {}
StaticOrderExecutor::~StaticOrderExecutor() = default;

WorkshopExecutor::WorkshopExecutor(const Options& options, const engine::WorkshopOptions& workshop)
    : Executor(options, "workshop", {.workshop = workshop}) {}
WorkshopExecutor::WorkshopExecutor(const rclcpp::ExecutorOptions& options)
    : WorkshopExecutor(with(options)) {}
WorkshopExecutor::~WorkshopExecutor() = default;

namespace {

/// An executor of a kind that is chosen by its name.
class NamedExecutor final : public Executor {
 public:
  NamedExecutor(const Options& options, std::string_view kind,
                const engine::KindOptions& kind_options)
      : Executor(options, kind, kind_options) {}
};

}  // namespace

std::shared_ptr<Executor> make_executor(std::string_view kind, const Options& options,
                                        const engine::KindOptions& kind_options) {
  return std::make_shared<NamedExecutor>(options, kind, kind_options);
}

}  // namespace rclrt_rclcpp
