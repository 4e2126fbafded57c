// SPDX-License-Identifier: Apache-2.0
// From the YAML tree to a draft of the application: keys, types, ranges, names and references.
// Each section of the file has a reader and a source file of its own.
#pragma once

#include "draft.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// What the readers of the sections hand on to each other.
struct Reading {
  Context& context;
  Draft draft;
  NameIndex executors{"executor", "executors"};
  NameIndex nodes{"node", "nodes"};
  NameIndex callbacks{"callback", "callbacks"};
};

Draft read_application(const YamlNode& root, Context& context);

// The sections in the order in which they are read, whatever their order in the file; null for an
// absent one.
void read_executors(const YamlNode* section, Reading& reading);
void read_nodes(const YamlNode* section, Reading& reading);
void read_callbacks(const YamlNode* section, Reading& reading);
void read_topics(const YamlNode* section, Reading& reading);
void read_chains(const YamlNode* section, Reading& reading);
void read_threads(const YamlNode* section, Reading& reading);

/// Reads the name of an entry under this key and declares it.
std::string read_declared_name(const Fields& fields, std::string_view key, std::string_view example,
                               NameIndex& index, Context& context);

}  // namespace rclrt::model::detail
