// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/kinds.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace rclrt::executor {

namespace {

/// The arguments of make_executor after the name.
struct KindArguments {
  ExecutorOptions options;
  const KindOptions& kind_options;
  const MakeReadinessSource& make_source;
};

using MakeKind = std::unique_ptr<Executor> (*)(KindArguments arguments);

template <typename E>
std::unique_ptr<Executor> make_kind(KindArguments arguments) {
  return std::make_unique<E>(std::move(arguments.options));
}

template <typename E, auto kOwnOptions>
std::unique_ptr<Executor> make_kind_with(KindArguments arguments) {
  return std::make_unique<E>(std::move(arguments.options), arguments.kind_options.*kOwnOptions);
}

std::unique_ptr<Executor> make_wait_set(KindArguments arguments) {
  if (!arguments.make_source) {
    throw std::invalid_argument("executor \"" + arguments.options.name +
                                "\": a wait set needs a source of readiness");
  }
  return std::make_unique<WaitSetExecutor>(std::move(arguments.options), arguments.make_source(),
                                           arguments.kind_options.wait_set);
}

// In the order of rclrt_model's registry; a test compares them.
constexpr std::array<std::pair<std::string_view, MakeKind>, 10> kMakers{{
    {"wait_set", &make_wait_set},
    {"producer_consumer", &make_kind<ProducerConsumerExecutor>},
    {"thread_dispatch", &make_kind<ThreadDispatchExecutor>},
    {"preemptive", &make_kind<PreemptiveExecutor>},
    {"edf", &make_kind<EdfExecutor>},
    {"events", &make_kind_with<EventsExecutor, &KindOptions::events>},
    {"picas", &make_kind<PicasExecutor>},
    {"per_group", &make_kind<PerGroupExecutor>},
    {"static_order", &make_kind_with<StaticOrderExecutor, &KindOptions::static_order>},
    {"workshop", &make_kind_with<WorkshopExecutor, &KindOptions::workshop>},
}};

constexpr auto kKindNames = [] {
  std::array<std::string_view, kMakers.size()> names;
  std::transform(kMakers.begin(), kMakers.end(), names.begin(),
                 [](const auto& maker) { return maker.first; });
  return names;
}();

}  // namespace

std::span<const std::string_view> executor_names() noexcept { return kKindNames; }

std::unique_ptr<Executor> make_executor(std::string_view kind, ExecutorOptions options,
                                        const KindOptions& kind_options,
                                        const MakeReadinessSource& make_source) {
  const auto maker = std::find_if(kMakers.begin(), kMakers.end(),
                                  [kind](const auto& each) { return each.first == kind; });
  if (maker == kMakers.end()) {
    std::string known;
    for (const std::string_view name : kKindNames) {
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument("unknown executor \"" + std::string(kind) + "\": choose from " +
                                known);
  }
  return maker->second({std::move(options), kind_options, make_source});
}

}  // namespace rclrt::executor
