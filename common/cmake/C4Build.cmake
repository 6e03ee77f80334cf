# What every target of C4 has in common: language level, warnings, sanitizers, where outputs go, and
# the three ways this project makes a target (library, program, test).
include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(C4_CCACHE ccache)
if(C4_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${C4_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${C4_CCACHE})
endif()
if(C4_CLANG_TIDY)
  find_program(C4_CLANG_TIDY_EXECUTABLE NAMES clang-tidy-14 REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${C4_CLANG_TIDY_EXECUTABLE} --quiet --warnings-as-errors=*)
endif()

# Flags of every target of ours. An interface library, not global flags, so that generated protobuf
# code, which we cannot change, is not held to our warnings.
add_library(c4_options INTERFACE)
target_compile_options(c4_options INTERFACE -Wall -Wextra -Werror)
target_include_directories(c4_options INTERFACE ${CMAKE_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(c4_options INTERFACE -Wthread-safety)
elseif(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in "text" + std::string that are not there (GCC bug 105651).
  target_compile_options(c4_options INTERFACE -Wno-restrict)
endif()

# Sanitizers reach every target through global flags: mixing instrumented and plain code in one
# process hides errors. Targets that are preloaded into foreign programs opt out with
# c4_without_sanitizers() (an instrumented preload cannot start in an uninstrumented process).
if(C4_SANITIZE)
  set(C4_SANITIZE_FLAGS -fsanitize=${C4_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(C4_FUZZ)
    list(APPEND C4_SANITIZE_FLAGS -fsanitize=fuzzer-no-link)
  endif()
  add_compile_options(${C4_SANITIZE_FLAGS})
  add_link_options(${C4_SANITIZE_FLAGS})
endif()

function(c4_without_sanitizers target)
  if(C4_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    target_link_options(${target} PRIVATE -fno-sanitize=all)
  endif()
endfunction()

# c4_library(NAME SOURCES a.cc … [DEPS x …])
function(c4_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC c4_options ${ARG_DEPS})
endfunction()

# c4_program(NAME SOURCES main.cc … [DEPS x …])
function(c4_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE c4_options ${ARG_DEPS})
endfunction()

# c4_test(NAME SOURCES a_test.cc … [DEPS x …] [LABELS unit …] [TIMEOUT seconds]): a GoogleTest program
# run as one ctest test. Labels select what a sanitizer run includes: `unit` (the default) for ASan and
# UBSan, `threads` as well for what has more than one thread and so runs under TSan.
function(c4_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE c4_options ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  c4_collect(${name} "${ARG_LABELS}")
endfunction()

# One build target per label (unit_tests, threads_tests), so that a sanitizer run builds no more than
# it runs. For tests that c4_test does not make: c4_collect(TARGET "label;label").
function(c4_collect target labels)
  foreach(label unit threads)
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    if(label IN_LIST labels)
      add_dependencies(${label}_tests ${target})
    endif()
  endforeach()
endfunction()

# c4_fuzz(NAME SOURCES a_fuzz.cc … [DEPS x …] [CORPUS directory]): a libFuzzer target; under ctest it
# runs its corpus and then C4_FUZZ_SECONDS of new inputs. Nothing without C4_FUZZ.
set(C4_FUZZ_SECONDS 10 CACHE STRING "Seconds of fuzzing per target under ctest")
function(c4_fuzz name)
  if(NOT C4_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE c4_options ${ARG_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  # New inputs go to a scratch corpus in the build tree; the checked-in one is only read.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz/corpus/${name})
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${C4_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048
           ${CMAKE_BINARY_DIR}/fuzz/corpus/${name} ${ARG_CORPUS})
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  if(NOT TARGET fuzz_targets)
    add_custom_target(fuzz_targets)
  endif()
  add_dependencies(fuzz_targets ${name})
endfunction()
