// SPDX-License-Identifier: Apache-2.0
// Whether a sanitizer confuses the fibres of the interleaving explorer.
#pragma once

namespace rclrt::test {

// ThreadSanitizer and RealtimeSanitizer keep a state for each operating-system thread, and fibres
// corrupt it. They have nothing to detect either, because only one fibre runs at a time.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kFibresConfuseTheSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(realtime_sanitizer)
inline constexpr bool kFibresConfuseTheSanitizer = true;
#else
inline constexpr bool kFibresConfuseTheSanitizer = false;
#endif
#else
inline constexpr bool kFibresConfuseTheSanitizer = false;
#endif

}  // namespace rclrt::test
