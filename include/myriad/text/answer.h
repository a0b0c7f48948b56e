/*
 * answer: what a verb, or the server, has to say, as one value.
 *
 * An answer is a tree of named values (for programs) and beside it a page (for people): paragraphs,
 * facts and tables whose cells come out of the tree, so that both say the same. One emitter renders
 * it: people get tables fitted to their screen, programs JSON, YAML in block style or CSV. Nobody
 * else in the house writes an answer.
 *
 *     myr_answer_init(&a, &arena, "myriad.fit.curve", 1);
 *     struct myr_value *points = myr_answer_list(&a, "points");
 *     myr_answer_object(&a, NULL);
 *     myr_answer_u64(&a, "gpus", 8);
 *     myr_answer_end(&a);
 *     myr_answer_end(&a);
 *     myr_answer_table(&a, points, columns, MYR_ARRAY_COUNT(columns));
 *     myr_answer_rows(&a, points);
 *
 * The tree opens with 'schema' and 'version'; docs/schema/ holds a schema for each. Keys keep the
 * order of the calls, and a key that has nothing to say is null rather than absent, so that a
 * reader can rely on it. What depends on the machine or on the moment (time, memory) goes to
 * myr_answer_timing() alone and is left out unless asked for: the same question gives the same
 * bytes.
 *
 * Everything lives in the arena; texts are copied.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/text/table.h"

#define MYR_ANSWER_DEPTH_MAX 24

enum myr_value_kind {
    MYR_VALUE_NULL,
    MYR_VALUE_BOOL,
    MYR_VALUE_NUMBER, /* its text is what JSON prints */
    MYR_VALUE_TEXT,
    MYR_VALUE_LIST,
    MYR_VALUE_OBJECT,
};

struct myr_value {
    enum myr_value_kind kind;
    uint32_t count;      /* children of a list or object */
    const char *key;     /* NULL in a list */
    struct myr_str text; /* scalars */
    struct myr_value *first, *last, *next;
};

/* A column of a table over a list of objects. */
struct myr_answer_column {
    const char *key;   /* of the row's object; "memory.total_gib" reaches into it */
    const char *title; /* for people, with the unit: "STEP s" */
    uint32_t flags;    /* enum myr_column_flags */
    int digits;        /* after the point, for people; programs get what the tree holds */
};

/* One that is shown as it stands: words, and numbers without a point. */
#define MYR_COLUMN(word, words, bits)                    \
    {                                                    \
        .key = (word), .title = (words), .flags = (bits) \
    }

struct myr_answer_view; /* a piece of the page */

struct myr_answer {
    struct myr_arena *arena;
    struct myr_value root, timing;
    struct myr_value *open[MYR_ANSWER_DEPTH_MAX];
    uint32_t depth;
    const struct myr_value *rows; /* the list that is the answer's CSV; NULL: it has none */
    const char *header;           /* its columns; NULL: those that are met */
    struct myr_answer_view *first_view, *last_view;
};

void myr_answer_init(struct myr_answer *answer, struct myr_arena *arena, const char *schema,
                     uint32_t version);

/*
 * The tree. 'key' is NULL inside a list; the same key twice in one object is a bug. object() and
 * list() stay open until end(); what they return stays valid, for tables.
 */
struct myr_value *myr_answer_object(struct myr_answer *answer, const char *key);
struct myr_value *myr_answer_list(struct myr_answer *answer, const char *key);
void myr_answer_end(struct myr_answer *answer);
void myr_answer_str(struct myr_answer *answer, const char *key, struct myr_str value);
void myr_answer_text(struct myr_answer *answer, const char *key, const char *value); /* or NULL */
void myr_answer_u64(struct myr_answer *answer, const char *key, uint64_t value);
void myr_answer_i64(struct myr_answer *answer, const char *key, int64_t value);
/* At most 'digits' after the point; what is not finite has no number and becomes null. */
void myr_answer_double(struct myr_answer *answer, const char *key, double value, int digits);
void myr_answer_bool(struct myr_answer *answer, const char *key, bool value);
void myr_answer_null(struct myr_answer *answer, const char *key);
/* What it took; shown with --timing only. */
void myr_answer_timing(struct myr_answer *answer, const char *key, double value, int digits);
/*
 * This list of objects is the answer's CSV. Its first line names the columns, also where the list
 * is empty: then they are those of a table over it, or what header() says, blanks between.
 */
void myr_answer_rows(struct myr_answer *answer, const struct myr_value *list);
void myr_answer_header(struct myr_answer *answer, const char *columns);

/* The child of that name; NULL when absent. A dotted path reaches deeper. */
const struct myr_value *myr_value_get(const struct myr_value *object, const char *path);

/* The page. Pieces come out in the order of the calls; an empty line stands between kinds. */
MYR_PRINTF(2, 3)
void myr_answer_heading(struct myr_answer *answer, const char *fmt, ...);
/* Words, broken to the screen. */
MYR_PRINTF(2, 3)
void myr_answer_para(struct myr_answer *answer, const char *fmt, ...);
/* "label   value", one below the other with values aligned; a long value is broken to the screen.
 */
MYR_PRINTF(3, 4)
void myr_answer_fact(struct myr_answer *answer, const char *label, const char *fmt, ...);
/* One row an object of the list, which may still grow. Shown even when empty. */
void myr_answer_table(struct myr_answer *answer, const struct myr_value *list,
                      const struct myr_answer_column *columns, uint32_t column_count);
/* As it is, line by line: drawings, files, commands to paste. */
void myr_answer_verbatim(struct myr_answer *answer, struct myr_str text);
/*
 * Pieces that follow are shown by -o wide only; the page says so: "more: -o wide, for ...". What is
 * asked first comes first, and the rest does not push it off the screen.
 */
MYR_PRINTF(2, 3)
void myr_answer_more(struct myr_answer *answer, const char *fmt, ...);
/*
 * What one would do next, at the end whenever it is called: "next: myriad verify ...", or behind
 * what for ("for sheets to print"; NULL: it says so itself) on a line of its own, to be pasted: a
 * command and nothing else. False: left out, since an input in it cannot be read a second time.
 */
MYR_PRINTF(3, 4)
bool myr_answer_next(struct myr_answer *answer, const char *what_for, const char *fmt, ...);

/* In a command to paste: here stands what cannot be typed again. */
#define MYR_ANSWER_GONE "\x04"
/* A name as one word of a command to paste: quoted where a shell would take it apart. */
const char *myr_answer_word(const struct myr_answer *answer, const char *text);
/*
 * The same of a file that was read, wherever it stands in the command: never taken for an option.
 * MYR_ANSWER_GONE for standard input and <(...), which are read once.
 */
const char *myr_answer_input(const struct myr_answer *answer, const char *path);
/*
 * A name that people gave to something, as the name of a file or folder: one part of a path, never
 * hidden, never "..". 'otherwise' where nothing of the name is left.
 */
const char *myr_answer_file(const struct myr_answer *answer, const char *name,
                            const char *otherwise);
/* The same where there is no answer: a hint. Returns 'ret'; one that does not fit is cut. */
const char *myr_shell_word(const char *text, char *ret, size_t size);

/* How it is to be rendered. */
struct myr_answer_form {
    enum myr_format format;
    uint32_t width; /* columns of the screen; 0: unknown, tables as wide as they are */
    bool colour;    /* headings and titles; never the only carrier of a meaning */
    bool timing;    /* with the timing object */
    bool excel;     /* CSV with a byte-order mark */
};

/* Appends to 'buf'. MYR_EINVAL, and nothing appended, when CSV is asked of an answer without rows.
 */
MYR_MUST_USE int myr_answer_write(const struct myr_answer *answer,
                                  const struct myr_answer_form *form, struct myr_buf *buf,
                                  struct myr_err *err);
