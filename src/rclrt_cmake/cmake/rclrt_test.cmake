# SPDX-License-Identifier: Apache-2.0
# Tests. Those of one package run in parallel, as many as ctest's options allow. Tests with SERIAL run
# alone. Tests with the same LOCK do not run at the same time: they share a resource of the machine,
# such as the bandwidth that the kernel grants to SCHED_DEADLINE. With RCLRT_TESTS_SERIAL, all
# GoogleTest programs of a directory run alone, because their real-time threads would starve each
# other. With RCLRT_TESTS_BESIDE_OTHERS, the tests of a directory are labelled beside_others:
# tools/test runs them beside the tests of other packages.

# rclrt_add_test_program(NAME SOURCES... [LIBRARIES NAMES...]): a program for tests, not installed.
# Its own code is not optimised, unlike the tested code, so it compiles in half the time.
function(rclrt_add_test_program name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
    ${RCLRT_NO_FALSE_OVERRUNS}
    $<$<CONFIG:RelWithDebInfo>:-O0> $<$<CONFIG:RelWithDebInfo>:-g1>)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
endfunction()

# rclrt_add_gtest(NAME [SOURCES FILES...] [LIBRARIES NAMES...]
#   [DEFINITIONS NAMES...] [ENVIRONMENT VARIABLES...] [TIMEOUT SECONDS] [LOCK NAME] [SERIAL]
#   [OWN_HEADERS]):
# a GoogleTest program NAME_test of test/NAME_test.cpp and the SOURCES, with a ctest test for each of
# its tests, in a process of its own. The headers in RCLRT_TEST_HEADERS are precompiled once for all
# tests of a directory. OWN_HEADERS excludes this program, because its definitions differ.
function(rclrt_add_gtest name)
  _rclrt_add_gtest_program(${name}_test TESTS ${name} ${ARGN})
endfunction()

# rclrt_add_gtests(NAME TESTS NAMES... [options of rclrt_add_gtest]): one GoogleTest program NAME_tests
# of a file test/<name>_test.cpp for each of the TESTS. The files are compiled together, so that the
# headers and templates that they share are compiled once. Therefore no two of them may define the
# same name in the same namespace. Put about six files of one subject together, so that every core has
# work. -DCMAKE_UNITY_BUILD=OFF compiles each file alone.
function(rclrt_add_gtests name)
  _rclrt_add_gtest_program(${name}_tests ${ARGN})
  rclrt_compile_together(${name}_tests 0)
endfunction()

function(_rclrt_add_gtest_program target)
  cmake_parse_arguments(arg "SERIAL;OWN_HEADERS" "TIMEOUT;LOCK"
    "TESTS;SOURCES;LIBRARIES;DEFINITIONS;ENVIRONMENT" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  set(sources)
  foreach(name IN LISTS arg_TESTS)
    set(source test/${name}_test.cpp)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      set(source ${name}_test.cpp)
    endif()
    list(APPEND sources ${source})
  endforeach()
  rclrt_add_test_program(${target} ${sources} ${arg_SOURCES}
    LIBRARIES ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  if(NOT arg_OWN_HEADERS)
    _rclrt_precompile_test(${target})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(RCLRT_TESTS_BESIDE_OTHERS)
    list(APPEND properties LABELS beside_others)
  endif()
  if(arg_SERIAL OR RCLRT_TESTS_SERIAL)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  if(arg_LOCK)
    list(APPEND properties RESOURCE_LOCK ${arg_LOCK})
  endif()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_environment.cmake)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_LIST ${target}_discovered
    PROPERTIES ${properties})
  if(arg_ENVIRONMENT)
    # Not a property above: that would pass on only the first value of a list.
    file(GENERATE OUTPUT ${list} CONTENT
      "set_tests_properties(\${${target}_discovered} PROPERTIES ENVIRONMENT [==[${arg_ENVIRONMENT}]==])\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list})
  endif()
endfunction()

# The first test of a directory precompiles RCLRT_TEST_HEADERS; the others reuse the result.
function(_rclrt_precompile_test target)
  if(NOT RCLRT_TEST_HEADERS)
    return()
  endif()
  get_property(first DIRECTORY PROPERTY RCLRT_FIRST_TEST)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${RCLRT_TEST_HEADERS})
    set_property(DIRECTORY PROPERTY RCLRT_FIRST_TEST ${target})
  endif()
endfunction()

# rclrt_add_pytest(NAME PATHS... [ENVIRONMENT VARIABLES...] [TIMEOUT SECONDS] [SERIAL] [JOBS N]
#   [OPTIONAL]):
# the tests below the paths as one ctest test, with a result file that counts each of them. JOBS
# processes run them. Each ctest test has its own DDS domain (ROS_DOMAIN_ID, from 81, or from 91 with
# RCLRT_TESTS_BESIDE_OTHERS), or one domain per process with JOBS.
# OPTIONAL: the file skips itself if something that it needs is not installed, and ctest shows it as
# skipped.
function(rclrt_add_pytest name)
  cmake_parse_arguments(arg "SERIAL;OPTIONAL" "TIMEOUT;JOBS" "ENVIRONMENT" ${ARGN})
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(jobs "")
  set(domains 1)
  if(arg_JOBS)
    set(jobs -n ${arg_JOBS})
    set(domains ${arg_JOBS})
  endif()
  set(first_domain 81)
  if(RCLRT_TESTS_BESIDE_OTHERS)
    set(first_domain 91)
  endif()
  get_property(domain GLOBAL PROPERTY RCLRT_NEXT_DOMAIN_${first_domain})
  if(NOT domain)
    set(domain ${first_domain})
  endif()
  math(EXPR next "${domain} + ${domains}")
  set_property(GLOBAL PROPERTY RCLRT_NEXT_DOMAIN_${first_domain} ${next})
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  add_test(NAME ${name}
    COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider ${jobs}
      -p no:launch_testing -p no:launch_ros  # plugins of ROS, which do not load in every pytest
      --junit-xml=${PROJECT_BINARY_DIR}/test_results/${PROJECT_NAME}/${name}.xunit.xml
      -o junit_suite_name=${PROJECT_NAME}.${name} ${paths}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;ROS_DOMAIN_ID=${domain};${arg_ENVIRONMENT}")
  if(RCLRT_TESTS_BESIDE_OTHERS)
    set_tests_properties(${name} PROPERTIES LABELS beside_others)
  endif()
  if(EXISTS ${PROJECT_BINARY_DIR}/python)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION
      "PYTHONPATH=path_list_prepend:${PROJECT_BINARY_DIR}/python")
  endif()
  if(arg_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
  if(arg_OPTIONAL)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 5)  # pytest: no test was collected
  endif()
endfunction()
