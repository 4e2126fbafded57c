// SPDX-License-Identifier: Apache-2.0
// The part of a host in a run that another host coordinates.
#pragma once

namespace rclrt::runner {

/// Serves one run on the connection: checks the version of the other end, runs the executors of
/// this host as processes, and sends what they measure. It runs what HostRequest describes, and
/// nothing else. Ends the run if the connection ends, or if nothing comes for ten seconds. Prints
/// on standard error. Returns the exit code: 0, 1 if the run failed, 2 if the request or the
/// version was refused. Call it while the process has only one thread.
int serve_run(int in, int out);

}  // namespace rclrt::runner
