# Configures, builds and runs the NEON tests: cmake -DSOURCE=<repository> -DBINARY=<folder> -DNINJA=... -P run_neon_tests.cmake
# Prints "skipped: ..." and ends well where a tool is missing; ctest turns that line into "Skipped".
find_program(CROSS_COMPILER aarch64-linux-gnu-g++)
find_program(EMULATOR qemu-aarch64)
if(NOT CROSS_COMPILER OR NOT EMULATOR OR NOT EXISTS /usr/src/googletest/googletest/src/gtest-all.cc)
  message("skipped: NEON tests need the packages g++-aarch64-linux-gnu, qemu-user and libgtest-dev")
  return()
endif()

# The compiler is started through ccache where there is one: gtest is the larger part of this build.
find_program(CCACHE ccache)
set(LAUNCHER "")
if(CCACHE)
  set(LAUNCHER -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
endif()
foreach(STEP
    "${CMAKE_COMMAND};-S;${SOURCE}/src/simd/neon;-B;${BINARY};-G;Ninja;-DCMAKE_BUILD_TYPE=Release;-DCMAKE_TOOLCHAIN_FILE=${SOURCE}/cmake/aarch64.cmake;${LAUNCHER}"
    "${CMAKE_COMMAND};--build;${BINARY};--parallel;2"
    "${EMULATOR};-L;/usr/aarch64-linux-gnu;${BINARY}/simd_test;--gtest_brief=1")
  execute_process(COMMAND ${STEP} RESULT_VARIABLE RESULT)
  if(NOT RESULT EQUAL 0)
    message(FATAL_ERROR "failed: ${STEP}")
  endif()
endforeach()
