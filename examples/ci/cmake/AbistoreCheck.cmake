# abistore_check(target [HEADERS file|folder...] [BASELINE library|database] [VERSION label] [ARGUMENTS word...])
#
# Adds the test abi-<target>, which fails where the shared library breaks BASELINE, and the target abi-<target>-html, which
# writes the report as a page. BASELINE is the snapshot of the last release (abistore export libfoo.so -o libfoo.json), its
# library, or a database of abistore (*.db, postgresql://...); without it, ABISTORE_DB of the environment. HEADERS are by default the target's
# PUBLIC_HEADER, VERSION its VERSION or the project's. The test is skipped where abistore is not found. Build with -g.
#
#   include(AbistoreCheck)
#   abistore_check(foo HEADERS include BASELINE abi/libfoo.json)
cmake_minimum_required(VERSION 3.20)

find_program(ABISTORE_EXECUTABLE abistore DOC "abistore, which compares the ABI of releases")

function(abistore_check target)
  cmake_parse_arguments(PARSE_ARGV 1 ABI "" "BASELINE;VERSION" "HEADERS;ARGUMENTS")
  if(ABI_UNPARSED_ARGUMENTS OR ABI_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "abistore_check(${target}): unknown or without a value: ${ABI_UNPARSED_ARGUMENTS} ${ABI_KEYWORDS_MISSING_VALUES}")
  endif()
  get_target_property(kind ${target} TYPE)
  if(NOT kind STREQUAL "SHARED_LIBRARY" AND NOT kind STREQUAL "MODULE_LIBRARY")
    message(FATAL_ERROR "abistore_check(${target}): not a shared library, but ${kind}")
  endif()
  if(NOT ABI_VERSION)
    get_target_property(ABI_VERSION ${target} VERSION)
    if(NOT ABI_VERSION)
      set(ABI_VERSION "${PROJECT_VERSION}")
    endif()
  endif()
  if(NOT ABI_HEADERS)
    get_target_property(ABI_HEADERS ${target} PUBLIC_HEADER)
    if(NOT ABI_HEADERS)
      set(ABI_HEADERS "")
    endif()
  endif()

  set(headers "")
  foreach(each IN LISTS ABI_HEADERS)
    get_filename_component(each "${each}" ABSOLUTE)
    list(APPEND headers "${each}")
  endforeach()
  if(ABI_BASELINE AND NOT ABI_BASELINE MATCHES "(://|[.]db$)")
    get_filename_component(baseline "${ABI_BASELINE}" ABSOLUTE)
    list(TRANSFORM headers PREPEND "--new-header=")
    set(words compare "${baseline}" "$<TARGET_FILE:${target}>" ${headers})
  else()
    list(TRANSFORM headers PREPEND "--header=")
    set(words gate "$<TARGET_FILE:${target}>" ${headers})
    if(ABI_VERSION)
      list(APPEND words --version "${ABI_VERSION}")
    endif()
    if(ABI_BASELINE MATCHES "://")
      list(APPEND words --db "${ABI_BASELINE}")
    elseif(ABI_BASELINE)
      get_filename_component(database "${ABI_BASELINE}" ABSOLUTE)
      list(APPEND words --db "${database}")
    endif()
  endif()
  list(APPEND words ${ABI_ARGUMENTS})

  if(NOT ABISTORE_EXECUTABLE)
    add_test(NAME abi-${target} COMMAND ${CMAKE_COMMAND} -E echo "abistore is not installed")
    set_tests_properties(abi-${target} PROPERTIES SKIP_REGULAR_EXPRESSION "not installed" LABELS abi)
    return()
  endif()
  add_test(NAME abi-${target} COMMAND "${ABISTORE_EXECUTABLE}" ${words} COMMAND_EXPAND_LISTS)
  set_tests_properties(abi-${target} PROPERTIES LABELS abi)
  add_custom_target(
    abi-${target}-html
    COMMAND "${ABISTORE_EXECUTABLE}" ${words} --fail-on never -o "${CMAKE_CURRENT_BINARY_DIR}/abi-${target}.html"
    DEPENDS ${target}
    COMMAND_EXPAND_LISTS VERBATIM
  )
endfunction()
