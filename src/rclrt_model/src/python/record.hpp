// SPDX-License-Identifier: Apache-2.0
// Python classes with read-only attributes, made from the C++ structs of the model.
#pragma once

#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_kind.hpp"

namespace py = pybind11;

namespace rclrt::model {

inline py::object to_python(Nanoseconds time) {
  return py::int_(static_cast<std::int64_t>(time.count()));
}

inline py::object to_python(const std::optional<Nanoseconds>& time) {
  return time ? to_python(*time) : py::none();
}

/// Returns the word for the enumerator.
template <typename E, std::size_t N>
py::object to_python(E value, const std::array<const char*, N>& words) {
  return py::str(words.at(static_cast<std::size_t>(value)));
}

inline py::object to_python(OverrunPolicy policy) {
  return to_python(policy, std::array{"catch_up", "skip", "rebase"});
}
inline py::object to_python(SyncPolicy policy) {
  return to_python(policy, std::array{"exact", "approximate"});
}
inline py::object to_python(Overload policy) {
  return to_python(policy, std::array{"queue", "keep_last", "skip_if_running"});
}
inline py::object to_python(const std::optional<Overload>& policy) {
  return policy ? to_python(*policy) : py::none();
}
inline py::object to_python(Reliability reliability) {
  return to_python(reliability, std::array{"reliable", "best_effort"});
}
inline py::object to_python(Role role) {
  return to_python(role, std::array{"topic", "service", "client"});
}
inline py::object to_python(ExecutorThreads threads) {
  return to_python(threads, std::array{"fixed", "level", "instance", "group", "pool", "deadline"});
}
inline py::object to_python(LinkOrder order) {
  return to_python(order, std::array{"fifo", "priority"});
}
inline py::object to_python(Policy policy) {
  return to_python(policy, std::array{"other", "fifo", "rr", "deadline"});
}
template <typename T>
  requires(!std::is_enum_v<T>)
py::object to_python(const T& value) {
  return py::cast(value);
}

inline py::object to_python(const std::vector<std::vector<std::size_t>>& lists,
                            py::handle /*owner*/ = {}) {
  py::tuple tuple(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    tuple[i] = py::tuple(py::cast(lists[i]));
  }
  return tuple;
}

/// Returns a tuple of views that keep their owner alive.
template <typename T>
py::object to_python(const std::vector<T>& items, py::handle owner) {
  py::tuple tuple(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if constexpr (std::is_class_v<T>) {
      tuple[i] = py::cast(items[i], py::return_value_policy::reference_internal, owner);
    } else {
      tuple[i] = py::cast(items[i]);
    }
  }
  return tuple;
}

/// Makes a Python class with read-only attributes that compares and prints by value.
template <typename T>
class Record {
 public:
  Record(py::module_& module, const char* name)
      : class_(module, name), fields_(py::cast(std::vector<std::string>{})) {
    class_.def(py::self == py::self);  // NOLINT(misc-redundant-expression): pybind11's notation
    class_.attr("_fields") = fields_;
    class_.def("__repr__", [](py::handle self) {
      py::list parts;
      for (const py::handle field : py::type::of(self).attr("_fields")) {
        parts.append(py::str("{}={!r}").format(field, self.attr(py::str(field))));
      }
      return py::str("{}({})").format(py::type::of(self).attr("__name__"),
                                      py::str(", ").attr("join")(parts));
    });
  }

  template <typename F>
  Record& field(const char* name, F T::* member) {
    fields_.append(name);
    class_.def_property_readonly(name, [member](const py::object& self) {
      const T& value = self.cast<const T&>();
      if constexpr (requires { to_python(value.*member, self); }) {
        return to_python(value.*member, self);
      } else {
        return to_python(value.*member);
      }
    });
    return *this;
  }

  /// Adds an attribute that is computed.
  template <typename Get>
  Record& value(const char* name, Get get) {
    fields_.append(name);
    class_.def_property_readonly(name, get);
    return *this;
  }

  py::class_<T>& more() { return class_; }

 private:
  py::class_<T> class_;
  py::list fields_;
};

/// Adds the classes of hosts, links and the messages between hosts.
void bind_network(py::module_& module);

}  // namespace rclrt::model
