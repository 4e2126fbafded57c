// SPDX-License-Identifier: Apache-2.0
#include "init_thread_of_ros.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace rclrt::timer_study {

namespace {

constexpr int kEnd = SIGUSR1;  // sent to the thread alone

sigset_t own_signals() {
  sigset_t result;
  sigemptyset(&result);
  for (const int signal : {SIGINT, SIGTERM, kEnd}) {
    sigaddset(&result, signal);
  }
  return result;
}

void wait_for_signals(realtime::StopFlag& stop) {
  const sigset_t signals = own_signals();
  for (int signal = 0; sigwait(&signals, &signal) == 0 && signal != kEnd;) {
    if (stop.stop_requested()) {
      _exit(128 + signal);  // the user wants to quit
    }
    stop.request_stop();
  }
}

}  // namespace

void InitThread::block_signals() {
  const sigset_t signals = own_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

InitThread::InitThread(realtime::StopFlag& stop) : thread_([&stop] { wait_for_signals(stop); }) {
  pthread_setname_np(thread_.native_handle(), "init");
}

InitThread::~InitThread() {
  pthread_kill(thread_.native_handle(), kEnd);
  thread_.join();
}

}  // namespace rclrt::timer_study
