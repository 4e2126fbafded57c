// SPDX-License-Identifier: Apache-2.0
// The parameters of one node.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <rcl_interfaces/msg/list_parameters_result.hpp>
#include <rcl_interfaces/msg/parameter_descriptor.hpp>
#include <rcl_interfaces/msg/parameter_event.hpp>
#include <rcl_interfaces/msg/set_parameters_result.hpp>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "rclrt/export.hpp"
#include "rclrt/parameter.hpp"
#include "rclrt/parameter_value.hpp"
#include "rclrt/publisher.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace rclrt {

/// The result of a set: success, or the reason of the refusal.
using SetParametersResult = rcl_interfaces::msg::SetParametersResult;

/// Every parameter is declared first, with a type that never changes. All member functions are
/// thread-safe; they lock and may allocate, so callbacks with a deadline read through
/// `Parameter<T>`. One thread changes parameters at a time, and the others wait. A parameter
/// callback may read. It gets std::logic_error if it sets, declares or undeclares a parameter, or
/// adds or removes a callback.
class RCLRT_EXPORT Parameters {
 public:
  /// Called before changes are made, also for the value of a new parameter; may refuse them with a
  /// reason.
  using OnSet = std::function<SetParametersResult(const std::vector<ParameterChange>&)>;
  /// Called after changes have been made.
  using OnChanged = std::function<void(const std::vector<ParameterChange>&)>;
  /// Identifies a callback, to remove it.
  enum class CallbackHandle : std::uint64_t {};

  /// Makes the parameters of a node, none declared.
  RCLRT_SETUP explicit Parameters(std::shared_ptr<NodeHandle> node);
  ~Parameters();
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Returns whether the parameter is declared.
  bool has(const std::string& name) const;
  /// Returns the value; kNotSet when it is not declared.
  ParameterValue get(const std::string& name) const;
  /// Returns the descriptor; with the name alone when it is not declared.
  rcl_interfaces::msg::ParameterDescriptor describe(const std::string& name) const;
  /// Returns the names that equal one of `prefixes` or are below one (separated by dots; no
  /// prefixes: all names), at most `depth` levels down (0: no limit). Also returns the prefixes of
  /// these names.
  rcl_interfaces::msg::ListParametersResult list(const std::vector<std::string>& prefixes = {},
                                                 std::uint64_t depth = 0) const;

  /// Sets a parameter. Refuses, with the reason, a parameter that is not declared or is read-only,
  /// a value of another type or out of range, and a change that an on-set callback refuses.
  SetParametersResult set(const std::string& name, ParameterValue value);
  /// Sets all of them or none.
  SetParametersResult set_atomically(std::vector<ParameterChange> changes);
  /// Removes the declaration of a parameter. Throws std::invalid_argument if it is not declared, or
  /// read-only.
  void undeclare(const std::string& name);

  /// Adds a callback. Callbacks run in the order in which they were added, on the thread that sets
  /// (usually the one that serves the request), one set at a time.
  CallbackHandle add_on_set_parameters_callback(OnSet callback);
  /// Adds a callback that is called after parameters were set, as above.
  CallbackHandle add_post_set_parameters_callback(OnChanged callback);
  /// Removes a callback; it does not run any more after this has returned. Returns false if it was
  /// removed before.
  bool remove_callback(CallbackHandle handle);

  /// Returns the parameters that the command line and its parameter files set for this node and
  /// that are not declared: mostly typing errors.
  std::vector<std::string> undeclared_overrides() const;
  /// Warns on stderr of the overrides that have no effect: those that are not declared, and
  /// `use_sim_time`, which no timer follows. Warns once for each name; Executor::add_node calls it.
  RCLRT_SETUP void warn_of_ignored_overrides();

 private:
  friend class Node;
  class Setting;
  using Entry = std::shared_ptr<detail::ParameterEntry>;
  template <typename F>
  using Callbacks = std::vector<std::pair<CallbackHandle, F>>;

  /// Declares a parameter. An override takes precedence over `value`. If `value` is monostate,
  /// there must be an override. Throws std::invalid_argument if the name is empty or declared
  /// already, or the value is refused.
  std::shared_ptr<const detail::ParameterEntry> declare(
      rcl_interfaces::msg::ParameterDescriptor descriptor, ParameterValue value);

  template <typename T>
  Parameter<T> declare(const std::string& name, ParameterValue value,
                       const ParameterOptions<T>& options) {
    rcl_interfaces::msg::ParameterDescriptor descriptor;
    descriptor.name = name;
    descriptor.type = static_cast<std::uint8_t>(ParameterValue(T{}).index());
    descriptor.description = options.description;
    descriptor.additional_constraints = options.constraints;
    descriptor.read_only = options.read_only;
    if constexpr (requires { options.range; }) {
      if (options.range) {
        add_range(descriptor, *options.range);
      }
    }
    return Parameter<T>(declare(std::move(descriptor), std::move(value)));
  }
  static void add_range(rcl_interfaces::msg::ParameterDescriptor& descriptor,
                        const ParameterRange<std::int64_t>& range);
  static void add_range(rcl_interfaces::msg::ParameterDescriptor& descriptor,
                        const ParameterRange<double>& range);

  /// Publishes changes on /parameter_events from now on.
  void publish_events();

  Entry find(const std::string& name) const;  // nullptr when there is none
  SetParametersResult ask(const std::vector<ParameterChange>& changes);
  void notify(const std::vector<ParameterChange>& changes);
  void publish(rcl_interfaces::msg::ParameterEvent event);

  const std::shared_ptr<NodeHandle> node_;
  const std::string node_name_;                            // fully qualified
  const std::map<std::string, ParameterValue> overrides_;  // from the command line

  mutable realtime::PiMutex mutex_;  // guards entries_; never held while a callback runs
  std::map<std::string, Entry> entries_;

  // One thread changes parameters at a time, callbacks and event included, so callbacks and events
  // are in the order of the changes. It guards all below, and is locked before mutex_.
  realtime::PiMutex setting_;
  std::atomic<std::thread::id> setter_;  // the thread that holds setting_
  Callbacks<OnSet> on_set_;
  Callbacks<OnChanged> on_changed_;
  std::uint64_t last_handle_ = 0;
  std::vector<std::string> warned_of_;  // overrides
  std::unique_ptr<Publisher<rcl_interfaces::msg::ParameterEvent>> events_;
};

}  // namespace rclrt
