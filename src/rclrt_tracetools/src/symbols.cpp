// SPDX-License-Identifier: Apache-2.0
// Names of functions, which rclcpp records when a callback is registered.
#include <cxxabi.h>
#include <dlfcn.h>

#include "tracetools/utils.hpp"

namespace tracetools::detail {

__attribute__((visibility("default"))) char* demangle_symbol(const char* mangled) {
  int status = 0;
  return abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
}

__attribute__((visibility("default"))) char* get_symbol_funcptr(const void* funcptr) {
  Dl_info info{};
  return dladdr(funcptr, &info) != 0 && info.dli_sname != nullptr ? demangle_symbol(info.dli_sname)
                                                                  : nullptr;
}

}  // namespace tracetools::detail
