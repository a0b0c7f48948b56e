# libmyriad-ccl.so: what programs of users link to make collective calls (docs/ccl.md). It stands
# alone: its sources and those of base that they use, and nothing but myr_ccl_* is seen of it.
file(GLOB ccl_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ccl/*.c)
list(FILTER ccl_sources EXCLUDE REGEX "_test\\.c$")
if(NOT MYRIAD_SANITIZE) # whose calls the program defines
  set(all_defined -Wl,-z,defs)
endif()
set(ccl_map ${CMAKE_SOURCE_DIR}/src/ccl/libmyriad-ccl.map)
add_library(myriad-ccl SHARED ${ccl_sources} src/base/err.c)
target_include_directories(myriad-ccl PRIVATE include src/ccl)
target_compile_options(myriad-ccl PRIVATE -fvisibility=default)
target_link_options(myriad-ccl PRIVATE -Wl,--version-script=${ccl_map} ${all_defined})
set_target_properties(myriad-ccl PROPERTIES SOVERSION 0 VERSION 0.${PROJECT_VERSION_MINOR}
                      LINK_DEPENDS ${ccl_map} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/myriad-ccl.pc CONTENT
"prefix=\${pcfiledir}/@up@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: myriad-ccl
Description: collective calls that end, also when a member does not
Version: @PROJECT_VERSION@
Libs: -L\${libdir} -lmyriad-ccl
Cflags: -I\${includedir}
" @ONLY)

install(TARGETS myriad-ccl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/myriad-ccl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT library)
install(DIRECTORY python/myriad DESTINATION ${CMAKE_INSTALL_DOCDIR}/python COMPONENT command
        FILES_MATCHING PATTERN "*.py")

# The profiler plugin that NCCL loads by its path (docs/nccl.md).
set(nccl_map ${CMAKE_SOURCE_DIR}/src/nccl/libnccl-profiler-myriad.map)
add_library(nccl-profiler-myriad MODULE src/nccl/profiler.c src/nccl/record.c)
target_include_directories(nccl-profiler-myriad PRIVATE include src/nccl)
target_compile_options(nccl-profiler-myriad PRIVATE -fvisibility=default)
target_link_options(nccl-profiler-myriad PRIVATE -Wl,--version-script=${nccl_map} ${all_defined})
set_target_properties(nccl-profiler-myriad PROPERTIES LINK_DEPENDS ${nccl_map}
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
install(TARGETS nccl-profiler-myriad LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/myriad
        COMPONENT library)
if(TEST nccl/profiler)
  add_dependencies(nccl_profiler_test nccl-profiler-myriad)
  set_tests_properties(nccl/profiler PROPERTIES ENVIRONMENT
                       MYRIAD_NCCL_PLUGIN=$<TARGET_FILE:nccl-profiler-myriad>)
endif()
