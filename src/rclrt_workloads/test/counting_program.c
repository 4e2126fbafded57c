/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a global variable, as `rclrt workloads import` compiles it. */
static int runs;

int rclrt_workload_main(void);

int rclrt_workload_main(void) { return ++runs; }
