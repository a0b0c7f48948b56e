# The version with the commit that it was built from: "0.2.0 (abcdef1)".
#
# The commit comes from git where the sources are a checkout of their own; else from
# packaging/commit.txt, which `git archive` and `make deb` fill in; else there is none. Nothing else
# about the machine or the moment goes in, so the same commit gives the same program.
if(CMAKE_SCRIPT_MODE_FILE)
  # The build calls this file as a script: -DROOT -DVERSION -DOUTPUT.
  set(commit "")
  if(EXISTS ${ROOT}/.git)
    execute_process(COMMAND git -C ${ROOT} rev-parse HEAD OUTPUT_VARIABLE commit
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(commit STREQUAL "" AND EXISTS ${ROOT}/packaging/commit.txt)
    file(READ ${ROOT}/packaging/commit.txt commit)
  endif()
  set(text "${VERSION}")
  if(commit MATCHES "^([0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f])")
    set(text "${VERSION} (${CMAKE_MATCH_1})")
  endif()
  file(WRITE ${OUTPUT} "#include \"cli.h\"\n\nconst char cli_version[] = \"${text}\";\n")
  return()
endif()

set(MYRIAD_VERSION_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

# myriad_version(TARGET): defines cli_version[] in TARGET.
function(myriad_version target)
  set(depends ${MYRIAD_VERSION_SCRIPT} ${CMAKE_SOURCE_DIR}/packaging/commit.txt)
  # git notes every move of HEAD there: nothing has to run in a build that changes nothing.
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse --git-path logs/HEAD
                  OUTPUT_VARIABLE moves OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS ${CMAKE_SOURCE_DIR}/.git AND moves)
    get_filename_component(moves ${moves} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
    if(EXISTS ${moves})
      list(APPEND depends ${moves})
    endif()
  endif()
  set(output ${CMAKE_BINARY_DIR}/embed/cli_version.c)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
            -DOUTPUT=${output} -P ${MYRIAD_VERSION_SCRIPT}
    DEPENDS ${depends}
    COMMENT "Version ${PROJECT_VERSION}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
