/*
 * lang: what the program says in English, said in another language.
 *
 * Whoever writes a sentence writes it in English, with its figures in it. A table of the other
 * language holds the same sentence with {} for each figure:
 *
 *     "{} has no price; it is not in the total": "{}没有价格，未计入总价"
 *
 * {#} is a number, {} anything up to the end of its clause. {1} to {9} in the translation change
 * the order. Of several lines that match, the one with the most words of its own is taken. What
 * stands for a {} is translated in turn where the table knows it. A text that no line matches stays
 * as it is: half a sentence is worse than an English one, and a test finds it.
 */
#pragma once

#include "myriad/base.h"

struct myr_lang_line {
    struct myr_str pattern, words;
};

struct myr_lang {
    struct myr_arena *arena;
    const char *name;                    /* "zh", for the page's own mark */
    MYR_VEC(struct myr_lang_line) lines; /* those with figures, the surest first */
    struct myr_strmap whole;             /* those without: index into 'fixed' */
    MYR_VEC(struct myr_str) fixed;
};

/* 'text' is YAML, 'file' its name for messages; what is said lies in the arena. */
MYR_MUST_USE int myr_lang_read(struct myr_arena *arena, const char *name, const char *file,
                               struct myr_str text, struct myr_lang *ret, struct myr_err *err);
void myr_lang_done(struct myr_lang *lang);

/* Without a table ('lang' is NULL) the text itself. */
const char *myr_lang_say(const struct myr_lang *lang, const char *english);
