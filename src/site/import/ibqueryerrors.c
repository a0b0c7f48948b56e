#include "import/readers.h"

/*
 * What ibqueryerrors prints: counters of ports beyond a threshold.
 *
 *     Errors for 0x98039b0300a1b2c4 "leaf-p0-g1-r5"
 *        GUID 0x98039b0300a1b2c4 port ALL: [SymbolErrorCounter == 9999]
 *        GUID 0x98039b0300a1b2c4 port 5: [SymbolErrorCounter == 9999] [PortXmitWait == 4]
 *
 * Only counters of the cable and its ends count; waiting and discards tell of traffic. The line of
 * all ports together is left out, and so is everything that does not begin with GUID.
 */

/* Those of the cable; see above. */
static const char *const counters[] = {
    "SymbolErrorCounter",
    "LinkErrorRecoveryCounter",
    "LinkDownedCounter",
    "PortRcvErrors",
    "PortRcvRemotePhysicalErrors",
    "LocalLinkIntegrityErrors",
    "ExcessiveBufferOverrunErrors",
};

struct errors_reader {
    const char *file;
    uint32_t line;
    const char *line_start;
    struct myr_str rest; /* of the line */
};

static struct import_place here(const struct errors_reader *reader)
{
    return (struct import_place){reader->file, reader->line,
                                 myr_text_column(reader->line_start, reader->rest.data)};
}

static void skip(struct myr_str *text, size_t count)
{
    text->data += count;
    text->len -= count;
}

static void skip_blanks(struct myr_str *text)
{
    while (text->len && (text->data[0] == ' ' || text->data[0] == '\t')) {
        skip(text, 1);
    }
}

static bool take_word(struct myr_str *text, const char *word)
{
    size_t len = strlen(word);
    if (text->len < len || memcmp(text->data, word, len) != 0) {
        return false;
    }
    skip(text, len);
    skip_blanks(text);
    return true;
}

/* Up to one of 'stops'. */
static struct myr_str take_until(struct myr_str *text, const char *stops)
{
    size_t len = 0;
    while (len < text->len && text->data[len] && !strchr(stops, text->data[len])) {
        len++;
    }
    struct myr_str taken = {text->data, len};
    skip(text, len);
    return taken;
}

/* "[SymbolErrorCounter == 9999]" and so on to the end of the line. */
static int read_counters(struct errors_reader *reader, uint64_t *ret, struct myr_err *err)
{
    struct myr_str *rest = &reader->rest;
    *ret = 0;
    for (skip_blanks(rest); take_word(rest, "["); skip_blanks(rest)) {
        struct myr_str name = take_until(rest, " =]");
        uint64_t value;
        skip_blanks(rest);
        struct import_place place = here(reader);
        if (!take_word(rest, "==") || !myr_str_to_u64(take_until(rest, " ]("), &value)) {
            return import_error(err, place,
                                "a counter such as [SymbolErrorCounter == 9] is "
                                "expected");
        }
        (void)take_until(rest, "]"); /* "(4.3KB)" */
        (void)take_word(rest, "]");
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counters); i++) {
            if (myr_str_eq(name, myr_str_from(counters[i]))) {
                /* Counters stick at their ends, and so does their sum. */
                *ret = *ret + value < *ret ? UINT64_MAX : *ret + value;
            }
        }
    }
    return MYR_OK;
}

/* Rows without an error of the cable are not kept. */
static int read_port(struct myr_import *import, struct errors_reader *reader, struct myr_err *err)
{
    struct myr_cabling_errors row = {};
    struct import_place place = here(reader);
    struct myr_str guid = take_until(&reader->rest, " \t");
    bool prefixed = guid.len > 2 && guid.data[0] == '0' && guid.data[1] == 'x';
    if (!prefixed || !import_hex((struct myr_str){guid.data + 2, guid.len - 2}, &row.guid)) {
        return import_error(err, place, "a GUID such as 0x98039b0300a1b2c4 is expected");
    }
    skip_blanks(&reader->rest);
    place = here(reader);
    if (!take_word(&reader->rest, "port")) {
        return import_error(err, place, "'port' is expected");
    }
    place = here(reader);
    row.port = take_until(&reader->rest, ":");
    if (!take_word(&reader->rest, ":") || row.port.len == 0 || !import_name_is_good(row.port)) {
        return import_error(err, place, "a port and ':' are expected");
    }
    int rc = read_counters(reader, &row.count, err);
    bool counts = rc == MYR_OK && row.count && !myr_str_eq(row.port, MYR_STR("ALL"));
    if (counts) {
        myr_vec_push(&import->cabling->errors, row);
    }
    return rc;
}

/* A text without errors has a summary alone. */
static bool is_errors(struct myr_str first_line)
{
    return take_word(&first_line, "Errors for") || take_word(&first_line, "## Summary:");
}

/* Lines that are not known are left out; a text without any known one is refused. */
int import_errors(struct myr_import *import, const char *file, struct myr_str text,
                  struct myr_err *err)
{
    struct errors_reader reader = {.file = file};
    const char *at = text.data, *text_end = text.data + text.len;
    int rc = MYR_OK;
    bool known = false;
    while (rc == MYR_OK && at < text_end) {
        const char *newline = memchr(at, '\n', (size_t)(text_end - at));
        const char *end = newline ? newline : text_end;
        reader.line++;
        reader.line_start = at;
        reader.rest = (struct myr_str){at, (size_t)(end - at)};
        at = newline ? newline + 1 : text_end;
        skip_blanks(&reader.rest);
        known = known || is_errors(reader.rest);
        if (take_word(&reader.rest, "GUID")) {
            rc = read_port(import, &reader, err);
        }
    }
    if (rc == MYR_OK && !known) {
        struct import_place place = {file, 1, 1};
        return import_error(err, place, "no line of ibqueryerrors in this text");
    }
    return rc;
}
