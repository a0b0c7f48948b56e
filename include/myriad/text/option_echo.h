/*
 * option_echo: a question as it was understood, for its answer: echoed whole, put again as words to
 * paste, and what of it was given at all.
 */
#pragma once

#include "myriad/text/answer.h"
#include "myriad/text/option.h"

/*
 * Whether what is given there may be read: "-" is standard input then. Of a text or a list the
 * value may be a name or a file, and the row does not say which: "-" is only a file.
 */
bool myr_option_may_read(const struct myr_option *option);
/* The same of an operand, of which the command's description tells files from names (ID, NODE). */
bool myr_operand_may_read(const struct myr_command *command, uint32_t index);

/*
 * The object 'question' of an answer: the verb, its operands, and the value of every row of the
 * command's own, given or not; null stands for "not given".
 */
void myr_option_echo(const struct myr_command *command, const void *own,
                     const struct myr_operands *operands, struct myr_answer *answer);

/*
 * The question as it would be typed again, with every option that decides: "myriad verify D F
 * --binding b.yaml". 'to' is the command itself, or another one with some of the same options,
 * which gets those. Options named in 'without' (blanks between, or NULL) are left out: the caller
 * has others in their place. MYR_ANSWER_GONE stands for what cannot be typed again. The text lies
 * in the answer's arena.
 */
const char *myr_option_again(const struct myr_command *command, const void *own,
                             const struct myr_operands *operands, const struct myr_command *to,
                             const char *without, struct myr_answer *answer);

/* Whether an option has another value than its default; false where the command has none so named.
 * For refusing what would be ignored: a text counts also when it is the default's. */
bool myr_option_given(const struct myr_command *command, const void *own, const char *name);

/* The same of what was typed, for refusals that no rule can state: they depend on a value. */
bool myr_option_typed(const struct myr_command *command, const void *own,
                      const struct myr_operands *operands, const char *name);

/* An object about the command: its words and every row, with variable, default and choices. */
void myr_option_describe(const struct myr_command *command, struct myr_answer *answer);
