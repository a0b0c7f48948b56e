/*
 * import_json: a JSON reader that tells what it meets, one event a call, and keeps nothing.
 *
 * LLDP texts of a whole fabric run to hundreds of megabytes, of which a few names are wanted; a
 * tree of them would take ten times the memory and most of the time. The text comes whole or piece
 * by piece; 'text' is good until the next event. Several values may follow each other. A text that
 * ends early is told apart from one that is wrong: what came before the cut is still good.
 */
#pragma once

#include "myriad/base.h"

#define JSON_DEPTH_MAX 64

enum json_event {
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_LIST,
    JSON_LIST_END,
    JSON_KEY,    /* 'text' is the key */
    JSON_STRING, /* 'text' is the value */
    JSON_OTHER,  /* a number, true, false or null */
    JSON_END,    /* nothing is open, and nothing follows */
    JSON_CUT,    /* the text ends within a value */
    JSON_BAD,    /* 'fault' says why, 'token' where */
};

/* Fills 'room' bytes at 'to' or fewer; 0 at the end. */
struct json_source {
    void *context;
    size_t (*fill)(void *context, char *to, size_t room);
};

struct json_reader {
    const char *start, *at, *end; /* of the piece at hand */
    const char *token;            /* where the last event begins */
    const char *fault;            /* set with JSON_BAD */
    struct json_source source;    /* fill is NULL: there is only this piece */
    struct myr_buf piece;         /* with a source */
    struct myr_buf unescaped;     /* the last string that had escapes */
    uint32_t start_line;          /* of the piece */
    uint64_t start_column;
    struct myr_str text;
    uint32_t depth;            /* open brackets */
    uint8_t want;              /* what may come next */
    char open[JSON_DEPTH_MAX]; /* which ones, from outside in */
};

/* Over a whole text, or over what a source gives after a first piece. */
void json_reader_init(struct json_reader *reader, struct myr_str text,
                      const struct json_source *source);
void json_reader_done(struct json_reader *reader);
enum json_event json_next(struct json_reader *reader);
/* Line and column of the last event, counted now. */
void json_place(const struct json_reader *reader, uint32_t *ret_line, uint32_t *ret_column);
