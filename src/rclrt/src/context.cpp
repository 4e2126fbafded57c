// SPDX-License-Identifier: Apache-2.0
#include "rclrt/context.hpp"

#include <rcl/arguments.h>
#include <rcl/error_handling.h>
#include <rcl/init.h>
#include <rcl/init_options.h>

#include <algorithm>
#include <cstdio>

#include "event_watcher.hpp"
#include "qos_warner.hpp"
#include "rclrt/error.hpp"
#include "rclrt/executors.hpp"
#include "signals.hpp"

namespace rclrt {

namespace {

struct InitOptions {
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();

  explicit InitOptions(const ContextOptions& wanted) {
    detail::check(rcl_init_options_init(&options, rcl_get_default_allocator()),
                  "preparing the context");
    if (wanted.domain_id) {
      detail::check(rcl_init_options_set_domain_id(&options, *wanted.domain_id),
                    "setting the domain id");
    }
  }
  ~InitOptions() {
    if (rcl_init_options_fini(&options) != RCL_RET_OK) {
      rcl_reset_error();
    }
  }
};

std::vector<std::string> non_ros_arguments(int argc, const char* const* argv,
                                           const rcl_context_t& context) {
  std::vector<std::string> result;
  const int count = rcl_arguments_get_count_unparsed(&context.global_arguments);
  if (count <= 0) {
    return result;
  }
  int* indices = nullptr;
  const rcl_allocator_t allocator = rcl_get_default_allocator();
  detail::check(rcl_arguments_get_unparsed(&context.global_arguments, allocator, &indices),
                "reading the arguments");
  for (int i = 0; i < count; ++i) {
    if (indices[i] > 0 && indices[i] < argc) {
      result.emplace_back(argv[indices[i]]);
    }
  }
  allocator.deallocate(indices, allocator.state);
  return result;
}

}  // namespace

std::shared_ptr<Context> Context::make(int argc, const char* const* argv,
                                       const ContextOptions& options) {
  const InitOptions init(options);
  std::shared_ptr<Context> context(new Context);
  context->context_ = rcl_get_zero_initialized_context();
  detail::check(rcl_init(argc, argv, &init.options, &context->context_), "starting ROS");
  context->arguments_ = non_ros_arguments(argc, argv, context->context_);
  if (options.handle_signals) {
    context->handles_signals_ = true;
    detail::shut_down_on_signal(context);
  }
  return context;
}

Context::Context() : qos_warner_(std::make_unique<detail::QosWarner>()) {}

Context::~Context() {
  shutdown();
  event_watcher_.reset();
  detail::report(rcl_context_fini(&context_), "ending the context");
}

void Context::shutdown() {
  if (handles_signals_) {
    detail::forget_on_signal(this);
  }
  const std::scoped_lock lock(mutex_);
  if (shut_down_.exchange(true)) {
    return;
  }
  for (Executor* executor : executors_) {
    executor->engine_->close();
  }
  if (rcl_context_is_valid(&context_)) {
    detail::report(rcl_shutdown(&context_), "shutting down");
  }
}

bool Context::ok() const noexcept { return !shut_down_.load() && rcl_context_is_valid(&context_); }

detail::EventWatcher& Context::event_watcher() {
  const std::scoped_lock lock(watcher_mutex_);
  if (!event_watcher_) {
    event_watcher_ = std::make_unique<detail::EventWatcher>(*this);
  }
  return *event_watcher_;
}

void Context::add(Executor* executor) {
  const std::scoped_lock lock(mutex_);
  executors_.push_back(executor);
  if (shut_down_.load()) {
    executor->engine_->close();
  }
}

void Context::remove(Executor* executor) {
  const std::scoped_lock lock(mutex_);
  std::erase(executors_, executor);
}

}  // namespace rclrt
