/*
 * option_words: names that parsing, help, man section and completion derive from a row. Private.
 */
#pragma once

#include "myriad/text/option.h"

#define OPTION_PROGRAM "myriad"

/* Of rows in a command, and of bytes in a name with what is put around it ("MYRIAD_FIT_CURVE_"). */
enum { OPTION_COUNT_MAX = 64, OPTION_NAME_MAX = 96 };

/* Whether a list of words, blanks between, has this one; NULL is an empty list. */
bool option_names_word(const char *list, const char *word);
/* The rows of a command: its own, then the common ones. */
uint32_t option_row_count(const struct myr_command *command);
const struct myr_option *option_row(const struct myr_command *command, uint32_t index);
/* Where the value of that row lies; NULL when there is none. */
void *option_place(const struct myr_command *command, uint32_t index,
                   const struct myr_option_values *values);
/* The same in structs that are only read. */
const void *option_seen(const struct myr_command *command, uint32_t index, const void *own,
                        const void *common);
/* "MYRIAD_FIT_CURVE_DRY_RUN" for "dry-run" of "fit curve"; "MYRIAD_OUTPUT" for a common row. */
void option_env_name(const struct myr_command *command, uint32_t index, char ret[OPTION_NAME_MAX]);
/* "MYRIAD_DRY_RUN", which no version reads any more. */
void option_old_env_name(const struct myr_option *option, char ret[OPTION_NAME_MAX]);
/* The largest number allowed; a row that names none has no limit. */
uint64_t option_max(const struct myr_option *option);
/* What stands for the value in help: "DIR"; NULL for a flag. */
const char *option_placeholder(const struct myr_option *option);
/* The default as text, appended to 'buf'; nothing when there is none worth showing. */
void option_put_default(const struct myr_command *command, uint32_t index, struct myr_buf *buf);
/* "myriad plan"; just "myriad" for a command without a name. */
void option_put_command(const struct myr_command *command, struct myr_buf *buf);
