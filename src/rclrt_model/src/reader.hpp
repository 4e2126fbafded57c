// SPDX-License-Identifier: Apache-2.0
// Makes a draft of the application from the YAML tree: keys, types, ranges, names and references.
// Each section of the file has its own reader in its own source file.
#pragma once

#include "draft.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// The state that the readers of the sections share.
struct Reading {
  Context& context;
  Draft draft;
  NameIndex hosts{"host", "hosts"};
  NameIndex executors{"executor", "executors"};
  NameIndex nodes{"node", "nodes"};
  NameIndex callbacks{"callback", "callbacks"};
};

Draft read_application(const YamlNode& root, Context& context);

// These functions read one section each and are called in this order, independent of the order in
// the file. `section` is null if the file does not have it.
void read_hosts(const YamlNode* section, Reading& reading);
void read_links(const YamlNode* section, Reading& reading);
void read_executors(const YamlNode* section, Reading& reading);
void read_nodes(const YamlNode* section, Reading& reading);
void read_callbacks(const YamlNode* section, Reading& reading);
void read_topics(const YamlNode* section, Reading& reading);
void read_chains(const YamlNode* section, Reading& reading);
void read_threads(const YamlNode* section, Reading& reading);

/// Reads the host of an executor of which the CPUs are known. kUnknown: there was an error.
std::optional<std::size_t> read_host_of_executor(const Fields& fields, Position at,
                                                 const Executor& executor, Reading& reading);

/// Reads the name of an entry under this key and declares it.
std::string read_declared_name(const Fields& fields, std::string_view key, std::string_view example,
                               NameIndex& index, Context& context);

}  // namespace rclrt::model::detail
