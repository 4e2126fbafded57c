// SPDX-License-Identifier: Apache-2.0
// Loads two components separately and lets each run the other's node.
// Usage: host FIRST SECOND
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "component.hpp"

namespace {

struct Library {
  void* handle;
  const Component* component;
};

Library load(const char* path) {
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const entry = handle != nullptr ? dlsym(handle, "component") : nullptr;
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  return {handle, reinterpret_cast<GetComponent>(entry)()};
}

void run(const char* what, const Component& engine_of, const Component& node_of) {
  Findings findings;
  void* const engine = engine_of.make_engine();
  node_of.add_node(engine, &engine_of, &findings);
  engine_of.spin(engine);
  engine_of.destroy_engine(engine);
  std::printf("%s: %s, %s\n", what, findings.runs >= 5 ? "five runs" : "too few runs",
              findings.seen_by_both == findings.runs ? "one state" : "two states");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: host FIRST SECOND\n");
    return 2;
  }
  const Library first = load(argv[1]);
  const Library second = load(argv[2]);
  if (first.component == second.component) {
    std::fprintf(stderr, "both are the same library\n");
    return 2;
  }
  run("the second's node in the first's executor", *first.component, *second.component);
  run("the first's node in the second's executor", *second.component, *first.component);
  const bool unloaded = dlclose(first.handle) == 0 && dlclose(second.handle) == 0;
  std::printf("%s\n", unloaded ? "unloaded" : dlerror());
}
