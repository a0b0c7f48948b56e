# libmyriad-ccl.so: what programs of users link to make collective calls (docs/ccl.md). It stands
# alone: its sources and those of base that they use, and nothing but myr_ccl_* is seen of it.
file(GLOB ccl_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ccl/*.c)
list(FILTER ccl_sources EXCLUDE REGEX "_test\\.c$")
set(ccl_map ${CMAKE_SOURCE_DIR}/src/ccl/libmyriad-ccl.map)
add_library(myriad-ccl SHARED ${ccl_sources} src/base/err.c)
target_include_directories(myriad-ccl PRIVATE include src/ccl)
target_compile_options(myriad-ccl PRIVATE -fvisibility=default)
target_link_options(myriad-ccl PRIVATE -Wl,--version-script=${ccl_map} -Wl,-z,defs)
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
