# myriad_embed(TARGET SYMBOL file-or-pattern...)
#
# Puts files into TARGET as bytes. Code includes <SYMBOL.h>, which is generated, and sees
#
#     extern const struct myr_embedded SYMBOL[];   entries in order of their names
#     extern const size_t SYMBOL_count;
#
# An entry's name is its path from the top of the source tree, with '/'; its data is followed by a
# NUL that 'size' does not count. Patterns are looked at again in every build, and a changed file
# is embedded anew. Nothing but CMake is needed.
#
# myriad_embed_docs() does the same with YAML files that were read: their data is what
# myr_doc_unpack() takes, without a NUL behind it.
if(CMAKE_SCRIPT_MODE_FILE)
  # The build calls this file as a script: -DSYMBOL -DROOT -DOUTPUT -DINPUTS, a list.
  set(arrays "")
  set(entries "")
  set(index 0)
  string(REPEAT "....." 16 line) # 16 bytes a line, so that editors and compilers survive
  foreach(input ${INPUTS})
    file(READ ${ROOT}/${input} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char data_${index}[] = {\n${bytes}0x00};\n")
    string(APPEND entries "    {\"${input}\", data_${index}, sizeof(data_${index}) - 1},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(WRITE ${OUTPUT} "#include <${SYMBOL}.h>\n\n${arrays}\n"
    "const struct myr_embedded ${SYMBOL}[] = {\n${entries}};\n"
    "const size_t ${SYMBOL}_count = ${index};\n")
  return()
endif()

set(MYRIAD_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

# What both have in common: the list of files, and the header. Sets 'inputs' (from the top of the
# tree), 'paths' (whole) and 'folder' for its caller.
macro(myriad_embed_files target symbol)
  set(inputs "")
  foreach(pattern ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${pattern})
    list(APPEND inputs ${found})
  endforeach()
  if(NOT inputs)
    message(FATAL_ERROR "myriad_embed: no file matches ${ARGN}")
  endif()
  list(REMOVE_DUPLICATES inputs)
  list(SORT inputs)
  list(TRANSFORM inputs PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE paths)

  set(folder ${CMAKE_BINARY_DIR}/embed)
  file(CONFIGURE OUTPUT ${folder}/${symbol}.h CONTENT
"#pragma once
#include <stddef.h>

#ifndef MYR_EMBEDDED
#define MYR_EMBEDDED
struct myr_embedded {
    const char *name;
    const unsigned char *data;
    size_t size;
};
#endif

extern const struct myr_embedded ${symbol}[];
extern const size_t ${symbol}_count;
")
  target_sources(${target} PRIVATE ${folder}/${symbol}.c)
  target_include_directories(${target} PRIVATE ${folder})
endmacro()

function(myriad_embed_docs target symbol)
  myriad_embed_files(${target} ${symbol} ${ARGN})
  add_custom_command(
    OUTPUT ${folder}/${symbol}.c
    COMMAND myriad-pack ${symbol} ${CMAKE_SOURCE_DIR} ${folder}/${symbol}.c ${inputs}
    DEPENDS ${paths} myriad-pack
    COMMENT "Embedding ${symbol}"
    VERBATIM)
endfunction()

function(myriad_embed target symbol)
  myriad_embed_files(${target} ${symbol} ${ARGN})
  add_custom_command(
    OUTPUT ${folder}/${symbol}.c
    COMMAND ${CMAKE_COMMAND} -DSYMBOL=${symbol} -DROOT=${CMAKE_SOURCE_DIR}
            -DOUTPUT=${folder}/${symbol}.c "-DINPUTS=${inputs}" -P ${MYRIAD_EMBED_SCRIPT}
    DEPENDS ${paths} ${MYRIAD_EMBED_SCRIPT}
    COMMENT "Embedding ${symbol}"
    VERBATIM)
endfunction()
