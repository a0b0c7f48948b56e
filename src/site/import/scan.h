/*
 * scan: a text line by line, and what a reader takes off the line at hand.
 */
#pragma once

#include "import/readers.h"

struct scan {
    struct myr_import *import;
    const char *file;
    const char *line_start, *at, *end; /* the line at hand */
    uint32_t line;
    const char *rest, *text_end; /* what comes behind it */
};

static inline struct scan scan_of(struct myr_import *import, const char *file, struct myr_str text)
{
    return (struct scan){
        .import = import, .file = file, .rest = text.data, .text_end = text.data + text.len};
}

/* For messages: where the reader stands; columns count from 1. */
static inline struct import_place scan_here(const struct scan *s)
{
    return (struct import_place){s->file, s->line, myr_text_column(s->line_start, s->at)};
}

/* The next line, without its end; false behind the last one. */
static inline bool scan_line(struct scan *s)
{
    if (s->rest >= s->text_end) {
        return false;
    }
    const char *newline = memchr(s->rest, '\n', (size_t)(s->text_end - s->rest));
    s->line++;
    s->line_start = s->at = s->rest;
    s->end = newline ? newline : s->text_end;
    s->rest = newline ? newline + 1 : s->text_end;
    if (s->end > s->at && s->end[-1] == '\r') {
        s->end--;
    }
    return true;
}

static inline void scan_blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t')) {
        s->at++;
    }
}

/* Blanks and the word; false, and only blanks taken, where another one stands. */
static inline bool scan_take(struct scan *s, const char *word)
{
    size_t len = strlen(word);
    scan_blanks(s);
    if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0) {
        return false;
    }
    s->at += len;
    return true;
}

/* Up to one of 'stops', or the end of the line. */
static inline struct myr_str scan_until(struct scan *s, const char *stops)
{
    const char *start = s->at;
    while (s->at < s->end && !strchr(stops, *s->at)) {
        s->at++;
    }
    return (struct myr_str){start, (size_t)(s->at - start)};
}
