// SPDX-License-Identifier: Apache-2.0
#include "spans.hpp"

#include <pybind11/stl.h>
#include <yaml.h>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rclrt/model/host.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/robot.hpp"
#include "rclrt/model/warnings.hpp"
#include "rclrt/yaml/document.hpp"

namespace py = pybind11;

namespace rclrt::model::detail {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// libyaml's parser of a text that was checked before, so that it fails only without memory.
class Parser {
 public:
  explicit Parser(std::string_view text) : skipped_(text.starts_with(kByteOrderMark) ? 1 : 0) {
    if (skipped_ != 0) {
      text.remove_prefix(kByteOrderMark.size());
    }
    if (yaml_parser_initialize(&parser_) == 0) {
      throw std::bad_alloc();
    }
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Parser() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  /// Moves to the next event.
  void next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) == 0) {
      throw std::runtime_error("the YAML text cannot be read a second time");
    }
  }

  /// Reads the value that begins with the current event.
  py::tuple read_value() {
    const std::size_t start = place(event_.start_mark);
    switch (event_.type) {
      case YAML_SCALAR_EVENT: {
        const bool plain = event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        const py::str text(reinterpret_cast<const char*>(event_.data.scalar.value),
                           event_.data.scalar.length);
        return py::make_tuple(plain ? "plain" : "quoted", start, place(event_.end_mark), text);
      }
      case YAML_SEQUENCE_START_EVENT: {
        const bool flow = event_.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        py::list children;
        for (next(); event_.type != YAML_SEQUENCE_END_EVENT; next()) {
          children.append(read_value());
        }
        return py::make_tuple(flow ? "flow list" : "list", start, place(event_.end_mark), children);
      }
      default: {
        const bool flow = event_.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        py::list children;
        for (next(); event_.type != YAML_MAPPING_END_EVENT; next()) {
          const py::tuple key = read_value();
          next();
          children.append(py::make_tuple(key, read_value()));
        }
        return py::make_tuple(flow ? "flow mapping" : "mapping", start, place(event_.end_mark),
                              children);
      }
    }
  }

 private:
  std::size_t place(const yaml_mark_t& mark) const { return mark.index + skipped_; }

  std::size_t skipped_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

/// Returns the values of a YAML text with their places, as nested tuples: (kind, start, end, text)
/// of a scalar, (kind, start, end, children) of a list, and of a mapping, with pairs of a key and a
/// value. Places count characters from 0. The end of a list or mapping without brackets is that of
/// its last value or beyond. Throws ModelError with every mistake; `name` is the file's name there.
py::tuple yaml_spans(const std::string& text, const std::string& name) {
  yaml::Diagnostics diagnostics;
  const auto root = yaml::read_yaml(text, diagnostics);
  if (!root || !diagnostics.empty()) {
    throw ModelError(name, diagnostics.take());
  }
  Parser parser(text);
  for (int i = 0; i < 3; ++i) {
    parser.next();  // the start of the stream, that of the document, and the first value
  }
  return parser.read_value();
}

Application parse(const std::string& text, const std::string& name) {
  const py::gil_scoped_release release;
  ParseResult result = parse_application(text);
  if (!result.application) {
    throw ModelError(name, result.diagnostics);
  }
  return std::move(*result.application);
}

/// Returns the warnings about a robot.yaml, or with `host` about a file of all processes of a host.
/// Throws ModelError with every mistake.
std::vector<std::string> robot_warnings(const std::string& text, const std::string& name,
                                        bool host) {
  const py::gil_scoped_release release;
  if (host) {
    const HostResult result = parse_host(text);
    return result.host ? warnings(*result.host) : throw ModelError(name, result.diagnostics);
  }
  const RobotResult result = parse_robot(text);
  return result.robot ? warnings(*result.robot) : throw ModelError(name, result.diagnostics);
}

}  // namespace

void bind_texts(py::module_& module) {
  module.def("parse", &parse, py::arg("text"), py::arg("name") = "app.yaml",
             "Reads the text of an app.yaml. Raises ModelError as load() does, with `name` as the "
             "file.");
  module.def(
      "warnings", [](const Application& application) { return warnings(application); },
      py::arg("application"),
      "Returns a sentence with its fix for each setting that is valid, but rarely intended.");
  module.def("robot_warnings", &robot_warnings, py::arg("text"), py::arg("name") = "robot.yaml",
             py::kw_only(), py::arg("host") = false,
             "Reads the text of a robot.yaml, or with `host` of a file with all processes of a "
             "host. Returns its warnings, as rclrt_model_check prints them. Raises ModelError as "
             "load() does, with `name` as the file.");
  module.def("yaml_spans", &yaml_spans, py::arg("text"), py::arg("name") = "app.yaml",
             "Returns the values of a YAML text with their places in it: (kind, start, end, text) "
             "of a scalar; (kind, start, end, children) of a list; of a mapping, with pairs of a "
             "key and a value. Places count characters. Raises ModelError as load() does.");
}

}  // namespace rclrt::model::detail
