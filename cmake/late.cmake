# myriad_late(TARGET): libraries that most questions never call are loaded by the first call
# (tools/late/late.h), by the names that the linker would have noted. Three quarters of what a start
# costs are left then; tests start the program tens of thousands of times.
function(myriad_late target)
  find_program(MYRIAD_OBJDUMP objdump REQUIRED)
  target_sources(${target} PRIVATE tools/late/find.c tools/late/sqlite.c tools/late/ssl.c
                 tools/late/xlsx.c)
  foreach(name crypto sqlite3 ssl xlsxwriter)
    find_library(MYRIAD_LATE_${name} ${name} REQUIRED)
    execute_process(COMMAND ${MYRIAD_OBJDUMP} -p ${MYRIAD_LATE_${name}} OUTPUT_VARIABLE said
                    COMMAND_ERROR_IS_FATAL ANY)
    if(NOT said MATCHES "SONAME +([^ \n]+)")
      message(FATAL_ERROR "${MYRIAD_LATE_${name}} has no name of its own")
    endif()
    string(TOUPPER ${name} upper)
    target_compile_definitions(${target} PRIVATE LATE_${upper}="${CMAKE_MATCH_1}")
  endforeach()
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE -Wl,--as-needed)
endfunction()
