// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::recorder {

namespace {

void require(int result) {
  if (result != 1) {
    throw std::runtime_error("libcrypto cannot compute SHA-256 on this machine");
  }
}

}  // namespace

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const auto require_readable = [&](bool readable) {
    if (!readable) {
      realtime::throw_errno("cannot read " + path.string());
    }
  };
  require_readable(file.is_open());
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  require(context != nullptr ? 1 : 0);
  require(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr));
  std::array<char, 64 * 1024> block{};
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    require_readable(!file.bad());
    require(EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(file.gcount())));
  } while (file);

  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require(EVP_DigestFinal_ex(context.get(), digest.data(), &size));
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned index = 0; index < size; ++index) {
    text += kDigits[digest[index] >> 4U];
    text += kDigits[digest[index] & 0xFU];
  }
  return text;
}

}  // namespace rclrt::recorder
