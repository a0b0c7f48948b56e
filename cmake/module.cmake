# Linked into every unit test (tests/leaks): compiled once, not two hundred times.
if(MYRIAD_TESTS)
  add_library(leaks OBJECT ${CMAKE_SOURCE_DIR}/tests/leaks/leaks.c)
  target_include_directories(leaks INTERFACE ${CMAKE_SOURCE_DIR}/tests/leaks)
  # What a test says is the same whatever the compiler makes of it, and there are as many lines of
  # tests as of sources: half the time, under a sanitizer too.
  set(MYRIAD_TEST_LEVEL -O0)
  if(MYRIAD_SANITIZE MATCHES undefined AND NOT MYRIAD_FUZZ)
    # A test's own arithmetic is nobody's: its memory is what the code under test may spoil.
    set(MYRIAD_TEST_CHECKS -fno-sanitize=undefined)
  endif()
  # Half the time of the usual one, with hundreds of them. Not mold (1.10.1): it never ended on one
  # test program and wrote another that did not start.
  find_program(MYRIAD_GOLD ld.gold)
  if(MYRIAD_GOLD)
    set(MYRIAD_TEST_LINKER -fuse-ld=gold)
  endif()
endif()

# Sources of a target that have no names in common are compiled a dozen at a time (MYRIAD_UNITY):
# headers are read once for all of them, which is a fifth of a sanitizer build and half of one
# without optimisation. Asked for again when a source changes: it may have a new name.
function(myriad_unity target folder)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/cmake/unity.py ${folder} ${ARGN}
                  OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[\n;]" ";" groups "${groups}")
  while(groups)
    list(POP_FRONT groups source group)
    if(source)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endwhile()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-shadow) # one's local, the other's static
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()

# myriad_module(NAME [USES module...] [LINK library...])
#
# A library myr_NAME (static, unless MYRIAD_SHARED) from the sources under src/NAME, and one test
# program for each *_test.c there, which ctest knows as NAME/<file>. A module sees the public
# headers of what it uses, transitively. A module may have sub-folders: its own headers are
# included by their path from src/NAME ("cost/block.h"), and test files of one module have
# different names.
function(myriad_module name)
  cmake_parse_arguments(ARG "" "" "USES;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*_test.c)
  list(REMOVE_ITEM sources ${tests} "")
  list(FILTER sources EXCLUDE REGEX "/main\\.c$") # a program's own

  if(MYRIAD_SHARED)
    add_library(myr_${name} SHARED ${sources})
  else()
    add_library(myr_${name} STATIC ${sources})
  endif()
  if(MYRIAD_UNITY)
    myriad_unity(myr_${name} ${CMAKE_SOURCE_DIR}/src/${name} ${sources})
  endif()
  target_include_directories(myr_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include)
  target_include_directories(myr_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src/${name})
  foreach(used ${ARG_USES})
    target_link_libraries(myr_${name} PUBLIC myr_${used})
  endforeach()
  target_link_libraries(myr_${name} PUBLIC ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY MYRIAD_MODULES myr_${name})

  if(NOT MYRIAD_TESTS OR NOT CMOCKA_FOUND OR NOT JANSSON_FOUND)
    return()
  endif()
  foreach(test ${tests})
    get_filename_component(stem ${test} NAME_WE)
    string(REGEX REPLACE "_test$" "" short ${stem})
    add_executable(${name}_${stem} ${test})
    target_compile_options(${name}_${stem} PRIVATE ${MYRIAD_TEST_LEVEL} ${MYRIAD_TEST_CHECKS} -g1)
    target_link_options(${name}_${stem} PRIVATE ${MYRIAD_TEST_LINKER})
    target_include_directories(${name}_${stem} PRIVATE ${CMAKE_SOURCE_DIR}/src/${name})
    target_compile_definitions(${name}_${stem} PRIVATE MYR_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(${name}_${stem} PRIVATE myr_${name} leaks PkgConfig::CMOCKA
                          PkgConfig::JANSSON)
    set_target_properties(${name}_${stem} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name}/${short} COMMAND ${name}_${stem})
    set_tests_properties(${name}/${short} PROPERTIES TIMEOUT ${MYRIAD_TEST_LIMIT_S})
    set_property(GLOBAL APPEND PROPERTY MYRIAD_UNIT_TESTS ${name}/${short} ${name}_${stem})
  endforeach()
endfunction()

# Once labels are known: programs that `make test` runs in the gcc build alone are built under the
# sanitizers when somebody asks for one of them (ninja -C build-asan fit_calibrate), and run by
# hand: ctest knows them there as disabled, not as programs that are missing.
function(myriad_leave_numbers)
  get_property(rows GLOBAL PROPERTY MYRIAD_UNIT_TESTS)
  while(MYRIAD_SANITIZE AND rows)
    list(POP_FRONT rows test target)
    get_property(labels TEST ${test} PROPERTY LABELS)
    if("numbers" IN_LIST labels)
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
      set_tests_properties(${test} PROPERTIES DISABLED ON)
    endif()
  endwhile()
endfunction()

# Of two tests with one name ctest gives both what is said of one of them, such as a label.
function(myriad_names_apart)
  set(folders ${CMAKE_SOURCE_DIR})
  set(names)
  while(folders)
    list(POP_FRONT folders folder)
    get_property(tests DIRECTORY ${folder} PROPERTY TESTS)
    get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    list(APPEND folders ${below})
    foreach(test ${tests})
      if(test IN_LIST names)
        message(FATAL_ERROR "two tests are called ${test}")
      endif()
      list(APPEND names ${test})
    endforeach()
  endwhile()
endfunction()
