// SPDX-License-Identifier: Apache-2.0
// A kind of executor, as make_executor() makes it. kinds/KIND.cpp defines that of each kind.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "rclrt/executor/kinds.hpp"

namespace rclrt::executor {

/// The arguments of make_executor() after the name.
struct KindArguments {
  ExecutorOptions options;
  const KindOptions& kind_options;
  const MakeReadinessSource& make_source;
};

struct Kind {
  std::string_view name;  ///< in the registry of rclrt_model
  std::unique_ptr<Executor> (*make)(KindArguments arguments);
};

/// Makes an executor of class `E`.
template <typename E>
std::unique_ptr<Executor> make_kind(KindArguments arguments) {
  return std::make_unique<E>(std::move(arguments.options));
}

/// Makes an executor of class `E` with the options that only its kind has.
template <typename E, auto kOwnOptions>
std::unique_ptr<Executor> make_kind_with(KindArguments arguments) {
  return std::make_unique<E>(std::move(arguments.options), arguments.kind_options.*kOwnOptions);
}

namespace kinds {

extern const Kind kWaitSet;
extern const Kind kProducerConsumer;
extern const Kind kThreadDispatch;
extern const Kind kPreemptive;
extern const Kind kEdf;
extern const Kind kEvents;
extern const Kind kPicas;
extern const Kind kPerGroup;
extern const Kind kStaticOrder;
extern const Kind kWorkshop;

}  // namespace kinds
}  // namespace rclrt::executor
