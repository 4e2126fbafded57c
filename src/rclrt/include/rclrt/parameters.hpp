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

/// The parameters of a node. A parameter must be declared before it is used, and its type never
/// changes. All member functions are thread-safe. They lock and may allocate, so a callback with a
/// deadline must read a parameter through `Parameter<T>`. Only one thread at a time changes
/// parameters; the others wait. A parameter callback may read parameters. It gets std::logic_error
/// if it sets, declares or undeclares a parameter, or adds or removes a callback.
class RCLRT_EXPORT Parameters {
 public:
  /// A callback that runs before parameters are changed, and before a new one gets its first value.
  /// It may refuse the change; its result then has the reason.
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
  /// Returns the declared names that equal one of `prefixes` or are below one of them (levels are
  /// separated by dots), at most `depth` levels below. No prefixes: all names; a depth of 0: no
  /// limit. Also returns the prefixes of these names.
  rcl_interfaces::msg::ListParametersResult list(const std::vector<std::string>& prefixes = {},
                                                 std::uint64_t depth = 0) const;

  /// Sets a declared parameter. Does not set it, and returns the reason, if the parameter is not
  /// declared or is read-only, if the value has another type or is out of range, or if an on-set
  /// callback refuses the change.
  SetParametersResult set(const std::string& name, ParameterValue value);
  /// Sets all of them or none.
  SetParametersResult set_atomically(std::vector<ParameterChange> changes);
  /// Removes the declaration of a parameter. Throws std::invalid_argument if it is not declared, or
  /// read-only.
  void undeclare(const std::string& name);

  /// Adds a callback for changes. Callbacks run in the order in which they were added, on the
  /// thread that sets the parameter (usually the one that serves the request). Only one change is
  /// made at a time.
  CallbackHandle add_on_set_parameters_callback(OnSet callback);
  /// Adds a callback that is called after parameters were set, as above.
  CallbackHandle add_post_set_parameters_callback(OnChanged callback);
  /// Removes a callback. After this has returned, the callback does not run any more. Returns false
  /// if it was removed before.
  bool remove_callback(CallbackHandle handle);

  /// Returns the names of parameters that the command line or its parameter files set for this
  /// node, but that the node has not declared. Most of them are typing errors.
  std::vector<std::string> undeclared_overrides() const;
  /// Warns on stderr of values on the command line or in parameter files that have no effect:
  /// parameters that are not declared, and `use_sim_time`, which no timer of rclrt follows. Warns
  /// once for each name. Executor::add_node calls this function.
  RCLRT_SETUP void warn_of_ignored_overrides();

 private:
  friend class Node;
  class Setting;
  using Entry = std::shared_ptr<detail::ParameterEntry>;
  template <typename F>
  using Callbacks = std::vector<std::pair<CallbackHandle, F>>;

  /// Declares a parameter. A value from the command line takes precedence over `value`. If `value`
  /// is monostate, the command line must give a value. Throws std::invalid_argument if the name is
  /// empty or declared already, or if the value is refused.
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

  // Locked while a thread changes parameters, including the callbacks and the event of the change.
  // So callbacks and events are in the order of the changes. It guards all members below, and is
  // locked before mutex_.
  realtime::PiMutex setting_;
  std::atomic<std::thread::id> setter_;  // the thread that holds setting_
  Callbacks<OnSet> on_set_;
  Callbacks<OnChanged> on_changed_;
  std::uint64_t last_handle_ = 0;
  std::vector<std::string> warned_of_;  // overrides
  std::unique_ptr<Publisher<rcl_interfaces::msg::ParameterEvent>> events_;
};

}  // namespace rclrt
