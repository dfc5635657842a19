# The optional parts of Laya: what is looked for, whether it was found, and what is lost without it. A part that is absent never
# goes in silence: `laya doctor` and the end of `make demo` name it. Parts, packages and losses stand in scripts/packages.
#
#   laya_find_part(pinyin PACKAGE LibIMEPinyin)             find_package; sets LibIMEPinyin_FOUND
#   laya_find_part(rime MODULE rime PREFIX LAYA_RIME)       pkg-config; sets LAYA_RIME_FOUND, target PkgConfig::LAYA_RIME
#   laya_find_part(training LIBRARY dnnl VARIABLE LAYA_DNNL [HEADER name.h])   sets LAYA_DNNL (and LAYA_DNNL_INCLUDE)
#   laya_find_part(arm PROGRAM qemu-aarch64 VARIABLE LAYA_QEMU)
#   laya_part_lacks(training "reason")                      found elsewhere to be incomplete
#
# Each may be called more than once: a part is present when all that was looked for in its name is there.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../scripts/packages LAYA_PART_LINES REGEX "^(part|needs) ")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../scripts/packages)
set_property(GLOBAL PROPERTY LAYA_PARTS "")

# Notes PART as looked for, and `REASON`, unless it is empty, as why it is absent.
function(laya_note_part PART REASON)
  get_property(PARTS GLOBAL PROPERTY LAYA_PARTS)
  if(NOT PART IN_LIST PARTS)
    if(NOT LAYA_PART_LINES MATCHES "part ${PART} ")
      message(FATAL_ERROR "scripts/packages has no part '${PART}'")
    endif()
    set_property(GLOBAL APPEND PROPERTY LAYA_PARTS ${PART})
    set_property(GLOBAL PROPERTY LAYA_PART_REASON_${PART} "")
  endif()
  get_property(KNOWN GLOBAL PROPERTY LAYA_PART_REASON_${PART})
  string(REGEX REPLACE "[\r\n\t ;]+" " " REASON "${REASON}")
  string(STRIP "${REASON}" REASON)
  string(FIND "${KNOWN}" "${REASON}" SAID_BEFORE)
  if(REASON AND SAID_BEFORE EQUAL -1)
    if(KNOWN)
      set(REASON "${KNOWN}, ${REASON}")
    endif()
    set_property(GLOBAL PROPERTY LAYA_PART_REASON_${PART} "${REASON}")
  endif()
endfunction()

function(laya_part_lacks PART REASON)
  laya_note_part(${PART} "${REASON}")
endfunction()

# A macro: what find_package sets must reach the caller.
macro(laya_find_part PART)
  cmake_parse_arguments(LAYA_FIND "" "PACKAGE;MODULE;PREFIX;LIBRARY;HEADER;PROGRAM;VARIABLE" "COMPONENTS" ${ARGN})
  set(LAYA_FIND_REASON "")
  if(LAYA_FIND_PACKAGE)
    if(LAYA_FIND_COMPONENTS)
      find_package(${LAYA_FIND_PACKAGE} QUIET COMPONENTS ${LAYA_FIND_COMPONENTS})
    else()
      find_package(${LAYA_FIND_PACKAGE} QUIET)
    endif()
    if(NOT ${LAYA_FIND_PACKAGE}_FOUND)
      # CMake's own words where the package is there and one of its dependencies is not.
      set(LAYA_FIND_REASON "${${LAYA_FIND_PACKAGE}_NOT_FOUND_MESSAGE}")
      if(NOT LAYA_FIND_REASON)
        set(LAYA_FIND_REASON "CMake finds no ${LAYA_FIND_PACKAGE}")
      endif()
    endif()
  elseif(LAYA_FIND_MODULE)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(${LAYA_FIND_PREFIX} QUIET IMPORTED_TARGET ${LAYA_FIND_MODULE})
    if(NOT ${LAYA_FIND_PREFIX}_FOUND)
      execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --print-errors --exists ${LAYA_FIND_MODULE}
                      ERROR_VARIABLE LAYA_FIND_REASON OUTPUT_QUIET)
      if(NOT LAYA_FIND_REASON MATCHES "required by '[^v]")  # not pkgconf's own 'virtual:world'
        set(LAYA_FIND_REASON "pkg-config finds no ${LAYA_FIND_MODULE}")
      endif()
    endif()
  elseif(LAYA_FIND_LIBRARY)
    find_library(${LAYA_FIND_VARIABLE} ${LAYA_FIND_LIBRARY})
    if(NOT ${LAYA_FIND_VARIABLE})
      set(LAYA_FIND_REASON "the linker finds no lib${LAYA_FIND_LIBRARY}")
    elseif(LAYA_FIND_HEADER)
      find_path(${LAYA_FIND_VARIABLE}_INCLUDE ${LAYA_FIND_HEADER})
      if(NOT ${LAYA_FIND_VARIABLE}_INCLUDE)
        set(LAYA_FIND_REASON "there is no ${LAYA_FIND_HEADER}")
      endif()
    endif()
  else()
    find_program(${LAYA_FIND_VARIABLE} ${LAYA_FIND_PROGRAM})
    if(NOT ${LAYA_FIND_VARIABLE})
      set(LAYA_FIND_REASON "there is no program ${LAYA_FIND_PROGRAM}")
    endif()
  endif()
  laya_note_part(${PART} "${LAYA_FIND_REASON}")
endmacro()

# Text as a C++ string literal.
function(laya_cxx_string TEXT OUT)
  string(REPLACE "\\" "\\\\" TEXT "${TEXT}")
  string(REPLACE "\"" "\\\"" TEXT "${TEXT}")
  set(${OUT} "\"${TEXT}\"" PARENT_SCOPE)
endfunction()

# Writes optional_parts.cpp, the table that `laya doctor` shows, and absent_parts.txt, what the end of `make demo` prints: empty
# where nothing is absent. Runs when every folder has been read.
function(laya_write_optional_parts)
  set(ROWS "")
  set(ABSENT "")
  get_property(PARTS GLOBAL PROPERTY LAYA_PARTS)
  foreach(PART ${PARTS})
    get_property(REASON GLOBAL PROPERTY LAYA_PART_REASON_${PART})
    set(PACKAGES "")
    foreach(LINE ${LAYA_PART_LINES})
      if(LINE MATCHES "^part ${PART} ([a-z]+) (.*)$")
        set(LOST "${CMAKE_MATCH_2}")
        set(TARGET build)
        if(CMAKE_MATCH_1 STREQUAL test)
          set(TARGET test)
        endif()
      elseif(LINE MATCHES "^needs ${PART} (.*)$")
        string(APPEND PACKAGES " ${CMAKE_MATCH_1}")
      endif()
    endforeach()
    string(STRIP "${PACKAGES}" PACKAGES)
    set(REMEDY "scripts/setup ${PART} && make ${TARGET} (brings ${PACKAGES})")
    if(REASON)
      string(APPEND ABSENT "without ${PART}: no ${LOST}\n    ${REASON} -> ${REMEDY}\n")
      message(STATUS "Laya: without ${PART} (${REASON})")
    endif()
    laya_cxx_string("${LOST}" LOST)
    laya_cxx_string("${REASON}" REASON)
    laya_cxx_string("${REMEDY}" REMEDY)
    string(APPEND ROWS "    {\"${PART}\", ${LOST}, ${REASON}, ${REMEDY}},\n")
  endforeach()
  set(CONTENT "// Written by cmake/optional_parts.cmake.
#include \"laya/optional_parts.h\"

namespace laya::apps {

std::span<const OptionalPart> optional_parts() {
  static constexpr OptionalPart kParts[] = {
${ROWS}  };
  return kParts;
}

}  // namespace laya::apps
")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/optional_parts.cpp CONTENT "${CONTENT}" @ONLY)
  file(WRITE ${CMAKE_BINARY_DIR}/absent_parts.txt "${ABSENT}")
endfunction()
cmake_language(DEFER CALL laya_write_optional_parts)
