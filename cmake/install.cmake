# What `make install` puts where (cmake --install, with --prefix and DESTDIR): the program with its
# manual pages and completions, the C library, the documents and the examples.
include(GNUInstallDirs)

# The library: all modules in one archive, so that a user links -lmyriad and does not have to know
# how the house is divided. Each module is one object in it, in which only myr_* stays visible: the
# names that files of a module share among themselves cannot collide with those of a user's program.
set(objects "")
get_property(modules GLOBAL PROPERTY MYRIAD_MODULES)
list(REMOVE_ITEM modules myr_cli myr_agent) # programs of their own
foreach(module ${modules})
  set(object ${CMAKE_BINARY_DIR}/library/${module}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/library
    COMMAND ${CMAKE_LINKER} -r -o ${object} $<TARGET_OBJECTS:${module}>
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=myr_* ${object}
    DEPENDS ${module} $<TARGET_OBJECTS:${module}>
    COMMENT "Library: ${module}"
    COMMAND_EXPAND_LISTS VERBATIM)
  list(APPEND objects ${object})
endforeach()
set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_library(libmyriad STATIC ${objects})
set_target_properties(libmyriad PROPERTIES OUTPUT_NAME myriad LINKER_LANGUAGE C)

# Found from where it lies itself, so that a tree can be moved and staged.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up ${up})
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/myriad.pc CONTENT
"prefix=\${pcfiledir}/@up@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: myriad
Description: plan, prove and run GPU training clusters
Version: @PROJECT_VERSION@
Requires.private: yaml-0.1 zlib
Libs: -L\${libdir} -lmyriad
Libs.private: -lxlsxwriter -luv -lssl -lcrypto -lsqlite3 -lm
Cflags: -I\${includedir}
" @ONLY)

include(${CMAKE_CURRENT_LIST_DIR}/ccl.cmake)

# Manual pages and completions follow from the option tables, so the program itself writes them.
set(written ${CMAKE_BINARY_DIR}/written)
find_program(MYRIAD_SCDOC scdoc)
if(NOT MYRIAD_SCDOC)
  message(WARNING "scdoc is not here: the manual pages are left out")
endif()
add_custom_command(
  OUTPUT ${written}/done
  COMMAND ${CMAKE_SOURCE_DIR}/scripts/written $<TARGET_FILE:myriad> ${written}
  COMMAND ${CMAKE_COMMAND} -E touch ${written}/done
  DEPENDS myriad ${CMAKE_SOURCE_DIR}/scripts/written
  COMMENT "Manual pages and completions"
  VERBATIM)
add_custom_target(written ALL DEPENDS ${written}/done)

set(doc ${CMAKE_INSTALL_DOCDIR})
install(TARGETS myriad myriad-agent RUNTIME COMPONENT command)
install(DIRECTORY ${written}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command
        FILES_MATCHING PATTERN "*.1")
install(FILES ${written}/completion/myriad COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${written}/completion/_myriad COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${MYRIAD_ZSH_FOLDER})
install(FILES ${written}/completion/myriad.fish COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Units name programs without their folder: systemd finds them under any of the usual prefixes.
install(FILES packaging/systemd/myriad.service packaging/systemd/myriad-agent.service
              packaging/systemd/myriad-relay.service
        DESTINATION lib/systemd/system COMPONENT command)
install(FILES README.md README.zh.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${doc}
        COMPONENT command)
if(MYRIAD_INSTALL_LICENCE)
  install(FILES LICENSE DESTINATION ${doc} COMPONENT command)
endif()
install(DIRECTORY docs DESTINATION ${doc} COMPONENT command PATTERN "pictures/make" EXCLUDE)
install(DIRECTORY examples catalog DESTINATION ${doc} COMPONENT command)
# Manifests, where docs/kubernetes.md expects them.
install(DIRECTORY packaging/kubernetes DESTINATION ${doc}/packaging COMPONENT command)
# By which programs of users tell their progress; where docs/agent.md expects them.
install(FILES python/myriad_progress.py DESTINATION ${doc}/python COMPONENT command)
install(FILES packaging/progress/myriad_progress.h DESTINATION ${doc}/packaging/progress
        COMPONENT command)

install(TARGETS libmyriad ARCHIVE COMPONENT library)
install(DIRECTORY include/myriad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.rec" PATTERN "agent.h" EXCLUDE
        PATTERN "agent" EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/myriad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT library)
