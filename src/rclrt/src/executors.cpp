// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executors.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "rcl_readiness.hpp"
#include "tracing.hpp"

namespace rclrt {

Executor::Executor(std::shared_ptr<Context> context, std::unique_ptr<executor::Executor> engine)
    : context_(std::move(context)), engine_(std::move(engine)) {
  context_->add(this);
}

Executor::~Executor() { context_->remove(this); }

void Executor::add_absent(const Node& node,
                          const std::function<bool(const executor::Callback&)>& is_wanted) {
  node.warn_of_ignored_overrides();  // here its parameters are declared
  const auto present = engine_->callbacks();
  for (const auto& callback : node.callbacks()) {
    if (is_wanted(*callback) &&
        std::find(present.begin(), present.end(), callback) == present.end()) {
      add(callback);
    }
  }
}

void Executor::add(const std::shared_ptr<executor::Callback>& callback) {
  engine_->add(callback);
  detail::trace_added(*engine_, *callback);
}

void Executor::add_node(const Node& node) {
  add_absent(node, [&](const auto& callback) { return node.is_added_with_node(callback); });
}

void Executor::remove_node(const Node& node) {
  for (const auto& callback : node.callbacks()) {
    engine_->remove(callback);
  }
}

void Executor::add_callback_group(const std::shared_ptr<CallbackGroup>& group, const Node& node) {
  if (group == nullptr) {
    throw std::invalid_argument("add_callback_group got no group (nullptr) of node \"" +
                                node.get_name() + "\" to add to executor \"" +
                                engine_->options().name + "\"");
  }
  const auto is_member = [&](const auto& callback) { return callback.shared_group() == group; };
  if (std::none_of(node.callbacks().begin(), node.callbacks().end(),
                   [&](const auto& callback) { return is_member(*callback); })) {
    throw std::invalid_argument("the callback group for executor \"" + engine_->options().name +
                                "\" has no callback of node \"" + node.get_name() +
                                "\": create its callbacks, with the group in their "
                                "CallbackOptions, before add_callback_group");
  }
  add_absent(node, is_member);
}

void Executor::remove_callback_group(const std::shared_ptr<CallbackGroup>& group,
                                     const Node& node) {
  for (const auto& callback : node.callbacks()) {
    if (group != nullptr && callback->shared_group() == group) {
      engine_->remove(callback);
    }
  }
}

PreemptiveExecutor::PreemptiveExecutor(std::shared_ptr<Context> context, ExecutorOptions options)
    : Executor(std::move(context),
               std::make_unique<executor::PreemptiveExecutor>(std::move(options))) {}

ProducerConsumerExecutor::ProducerConsumerExecutor(std::shared_ptr<Context> context,
                                                   ExecutorOptions options)
    : Executor(std::move(context),
               std::make_unique<executor::ProducerConsumerExecutor>(std::move(options))) {}

ThreadDispatchExecutor::ThreadDispatchExecutor(std::shared_ptr<Context> context,
                                               ExecutorOptions options)
    : Executor(std::move(context),
               std::make_unique<executor::ThreadDispatchExecutor>(std::move(options))) {}

EdfExecutor::EdfExecutor(std::shared_ptr<Context> context, ExecutorOptions options)
    : Executor(std::move(context), std::make_unique<executor::EdfExecutor>(std::move(options))) {}

PicasExecutor::PicasExecutor(std::shared_ptr<Context> context, ExecutorOptions options)
    : Executor(std::move(context), std::make_unique<executor::PicasExecutor>(std::move(options))) {}

PerGroupExecutor::PerGroupExecutor(std::shared_ptr<Context> context, ExecutorOptions options)
    : Executor(std::move(context),
               std::make_unique<executor::PerGroupExecutor>(std::move(options))) {}

EventsExecutor::EventsExecutor(std::shared_ptr<Context> context, ExecutorOptions options,
                               EventsOptions events)
    : Executor(std::move(context),
               std::make_unique<executor::EventsExecutor>(std::move(options), events)) {}

StaticOrderExecutor::StaticOrderExecutor(std::shared_ptr<Context> context, ExecutorOptions options,
                                         StaticOrderOptions static_order)
    : Executor(std::move(context), std::make_unique<executor::StaticOrderExecutor>(
                                       std::move(options), std::move(static_order))) {}

WorkshopExecutor::WorkshopExecutor(std::shared_ptr<Context> context, ExecutorOptions options,
                                   WorkshopOptions workshop)
    : Executor(std::move(context),
               std::make_unique<executor::WorkshopExecutor>(std::move(options), workshop)) {}

WaitSetExecutor::WaitSetExecutor(std::shared_ptr<Context> context, ExecutorOptions options,
                                 WaitSetOptions wait_set)
    : Executor(context,
               std::make_unique<executor::WaitSetExecutor>(
                   std::move(options), std::make_unique<detail::RclReadiness>(context), wait_set)) {
}

namespace {

/// An executor of a kind that is chosen by its name.
class NamedExecutor final : public Executor {
 public:
  NamedExecutor(std::shared_ptr<Context> context, std::unique_ptr<executor::Executor> engine)
      : Executor(std::move(context), std::move(engine)) {}
};

}  // namespace

const std::vector<std::string>& executor_names() {
  static const std::vector<std::string> kNames(executor::executor_names().begin(),
                                               executor::executor_names().end());
  return kNames;
}

std::unique_ptr<Executor> make_executor(std::string_view name, std::shared_ptr<Context> context,
                                        ExecutorOptions options, const KindOptions& kind_options) {
  auto engine = executor::make_executor(name, std::move(options), kind_options, [&] {
    return std::make_unique<detail::RclReadiness>(context);
  });
  return std::make_unique<NamedExecutor>(std::move(context), std::move(engine));
}

}  // namespace rclrt
