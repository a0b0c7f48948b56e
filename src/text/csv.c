/*
 * csv: rows of comma-separated values after RFC 4180, and back. A field points into the text where
 * it can; only one with doubled quotes is copied.
 */
#include "myriad/text/csv.h"
#include "myriad/text/doc.h"

#include <endian.h>

#include "letter/message.h"
#include "letter/utf8.h"

void myr_csv_init(struct myr_csv *csv, struct myr_arena *arena, const char *file,
                  struct myr_str text)
{
    *csv = (struct myr_csv){
        .file = file,
        .text = utf8_skip_mark(text),
        .arena = arena,
        .next_line = 1,
    };
}

/* The byte at 'offset', or a line end behind the text: the last row may lack its own. */
static char byte_at(const struct myr_csv *csv, size_t offset)
{
    return offset < csv->text.len ? csv->text.data[offset] : '\n';
}

/* LF or CR LF; a CR alone ends no line. */
static bool at_line_end(const struct myr_csv *csv, size_t offset)
{
    return byte_at(csv, offset) == '\n' ||
           (byte_at(csv, offset) == '\r' && byte_at(csv, offset + 1) == '\n');
}

/* Both ways to end a line, and the end of the text, which counts as one. */
static void skip_line_end(struct myr_csv *csv)
{
    MYR_ASSERT(at_line_end(csv, csv->at));
    csv->at += byte_at(csv, csv->at) == '\r' ? 2 : 1;
    if (csv->at > csv->text.len) {
        csv->at = csv->text.len; /* the line end that was only imagined */
    }
    csv->next_line++;
    csv->line_start = csv->at;
}

/* Columns count characters, from one. */
static struct text_place here(const struct myr_csv *csv)
{
    const char *text = csv->text.data;
    return (struct text_place){csv->next_line,
                               myr_text_column(text + csv->line_start, text + csv->at)};
}

static int fail_here(const struct myr_csv *csv, struct myr_err *err, const char *what)
{
    struct text_place place = here(csv);
    return text_error_at(err, csv->file, place, MYR_EINVAL, "%s", what);
}

/* The field in quotes without them, with doubled ones made single. */
static struct myr_str unquote(struct myr_csv *csv, size_t start, size_t end, size_t doubled_count)
{
    const char *data = csv->text.data;
    if (doubled_count == 0) {
        return (struct myr_str){data + start, end - start};
    }
    /* The copy has one quote for each pair, and room for a NUL. */
    size_t len = end - start - doubled_count;
    char *copy = MYR_ARENA_NEW(csv->arena, char, len + 1);
    size_t put = 0;
    for (size_t i = start; i < end; i++) {
        copy[put++] = data[i];
        i += data[i] == '"';
    }
    MYR_ASSERT(put == len);
    return (struct myr_str){copy, len};
}

/*
 * 'at' is on the opening quote; afterwards behind the closing one. Line ends inside belong to the
 * field.
 */
static int read_quoted(struct myr_csv *csv, struct myr_str *ret, struct myr_err *err)
{
    size_t start = csv->at + 1;
    size_t doubled_count = 0;
    /* Told apart from the place where the text ends: far away, when a quote is missing. */
    const size_t open_at = csv->at, open_start = csv->line_start;
    const uint32_t open_line = csv->next_line;
    for (csv->at++;; csv->at++) {
        if (csv->at >= csv->text.len) {
            const char *text = csv->text.data;
            struct text_place open = {open_line,
                                      myr_text_column(text + open_start, text + open_at)};
            return text_error_at(err, csv->file, open, MYR_EINVAL,
                                 "the quote opened here is never closed");
        }
        char c = csv->text.data[csv->at];
        if (c == '\n') {
            csv->next_line++;
            csv->line_start = csv->at + 1;
        } else if (c == '"' && byte_at(csv, csv->at + 1) == '"') {
            doubled_count++;
            csv->at++;
        } else if (c == '"') {
            break;
        }
    }
    *ret = unquote(csv, start, csv->at, doubled_count);
    csv->at++;
    if (byte_at(csv, csv->at) != ',' && !at_line_end(csv, csv->at)) {
        return fail_here(csv, err,
                         "',' or the end of the line is expected after the closing quote");
    }
    return MYR_OK;
}

/* The four bytes that mean something outside quotes. */
static bool is_plain(char c)
{
    return c != ',' && c != '\n' && c != '"' && c != '\r';
}

/*
 * Past all that is neither a divider nor a quote nor a line end, eight bytes at a time: those four
 * lie at or below the comma, where little else does, so one comparison finds them all. (High bits
 * above the first one found may be wrong.)
 */
static size_t skip_plain(struct myr_str text, size_t at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    while (text.len - at >= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, text.data + at, sizeof(word));
        word = le64toh(word);
        uint64_t low = (word - ones * (',' + 1)) & ~word & (ones << 7);
        if (!low) {
            at += sizeof(word);
            continue;
        }
        at += (size_t)__builtin_ctzll(low) / 8;
        if (!is_plain(text.data[at])) {
            return at;
        }
        at++; /* a blank or a bracket */
    }
    while (at < text.len && is_plain(text.data[at])) {
        at++;
    }
    return at;
}

/* Strict: a reader that guesses at quotes shifts columns without anybody noticing. */
static int read_bare(struct myr_csv *csv, struct myr_str *ret, struct myr_err *err)
{
    size_t start = csv->at;
    csv->at = skip_plain(csv->text, start);
    *ret = (struct myr_str){csv->text.data + start, csv->at - start};
    char c = byte_at(csv, csv->at);
    if (c == '"') {
        return fail_here(csv, err,
                         "a quote inside a field; quote the whole field and write "
                         "the quote twice");
    }
    if (c == '\r' && byte_at(csv, csv->at + 1) != '\n') {
        return fail_here(csv, err, "a carriage return without a line feed");
    }
    return MYR_OK;
}

/* Fields of one row; the text does not end here. */
static int read_fields(struct myr_csv *csv, struct myr_err *err)
{
    for (;;) {
        if (csv->count == MYR_CSV_FIELDS_MAX) {
            return fail_here(csv, err, "more than 256 fields in a row, the most allowed");
        }
        uint32_t field = csv->count;
        /* Kept for myr_csv_error(): a row may span lines, when a quoted field does. */
        csv->lines[field] = csv->next_line;
        csv->bytes[field] = (uint32_t)(csv->at - csv->line_start);
        int rc = byte_at(csv, csv->at) == '"' ? read_quoted(csv, &csv->fields[field], err)
                                              : read_bare(csv, &csv->fields[field], err);
        if (rc < 0) {
            csv->count = 0;
            return rc;
        }
        csv->count++;
        if (byte_at(csv, csv->at) != ',') {
            skip_line_end(csv);
            return MYR_OK;
        }
        csv->at++; /* another field follows, if only an empty one */
    }
}

/* 1: a row; 0: the end. Blank lines are no rows. */
int myr_csv_next(struct myr_csv *csv, struct myr_err *err)
{
    csv->count = 0;
    while (csv->at < csv->text.len && at_line_end(csv, csv->at)) {
        skip_line_end(csv);
    }
    csv->line = csv->next_line;
    csv->row_start = csv->line_start;
    if (csv->at >= csv->text.len) {
        return 0;
    }
    MYR_TRY(read_fields(csv, err));
    int rc = myr_csv_check_row(csv, err);
    if (rc < 0) {
        myr_err_hint(err, "a field with a comma in it stands in quotes");
        return rc;
    }
    return 1;
}

int myr_csv_header(struct myr_csv *csv, struct myr_err *err)
{
    int rc = myr_csv_next(csv, err);
    myr_csv_is_header(csv);
    return rc;
}

void myr_csv_is_header(struct myr_csv *csv)
{
    csv->head_count = csv->count;
}

/* Blanks and tabs are as good as nothing. */
static bool is_blank(struct myr_str field)
{
    for (size_t i = 0; i < field.len; i++) {
        if (field.data[i] != ' ' && field.data[i] != '\t') {
            return false;
        }
    }
    return true;
}

int myr_csv_check_row(const struct myr_csv *csv, struct myr_err *err)
{
    for (uint32_t i = csv->head_count; csv->head_count && i < csv->count; i++) {
        if (!is_blank(csv->fields[i])) {
            return myr_csv_error(err, csv, i, "the row has %u fields, the header %u", csv->count,
                                 csv->head_count);
        }
    }
    return MYR_OK;
}

/* Characters are counted only when somebody is told; a quoted field may have begun lines. */
uint32_t myr_csv_column(const struct myr_csv *csv, uint32_t field)
{
    MYR_ASSERT(field < csv->count);
    const char *line = csv->text.data + csv->row_start, *end = csv->text.data + csv->text.len;
    for (uint32_t l = csv->line; l < csv->lines[field]; l++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        MYR_ASSERT(newline);
        line = newline + 1;
    }
    MYR_ASSERT(csv->bytes[field] <= (size_t)(end - line));
    return myr_text_column(line, line + csv->bytes[field]);
}

int myr_csv_error(struct myr_err *err, const struct myr_csv *csv, uint32_t field, const char *fmt,
                  ...)
{
    struct text_place place = {csv->lines[field], myr_csv_column(csv, field)};
    va_list args;
    va_start(args, fmt);
    int rc = text_error_at_args(err, csv->file, place, MYR_EINVAL, fmt, args);
    va_end(args);
    return rc;
}

/* Blanks at the ends need no quotes: readers that follow the RFC keep them. */
void myr_csv_put(struct myr_buf *buf, struct myr_str field)
{
    /* A mark at the start of the file would be skipped by the reader, were it not quoted. */
    bool must_quote = utf8_skip_mark(field).len < field.len;
    for (size_t i = 0; i < field.len && !must_quote; i++) {
        char c = field.data[i];
        must_quote = c == '"' || c == ',' || c == '\n' || c == '\r';
    }
    if (!must_quote) {
        myr_buf_put(buf, field.data, field.len);
        return;
    }
    myr_buf_putc(buf, '"');
    for (size_t i = 0; i < field.len; i++) {
        if (field.data[i] == '"') {
            myr_buf_putc(buf, '"');
        }
        myr_buf_putc(buf, field.data[i]);
    }
    myr_buf_putc(buf, '"');
}

/*
 * Spreadsheets take a cell that begins so for a formula and run it. The last four are the wide
 * forms that those of China and Japan accept too.
 */
static bool begins_formula(struct myr_str text)
{
    static const char *const starts[] = {"=",
                                         "+",
                                         "-",
                                         "@",
                                         "\t",
                                         "\r",
                                         "\n",
                                         "\xEF\xBC\x9D",
                                         "\xEF\xBC\x8B",
                                         "\xEF\xBC\x8D",
                                         "\xEF\xBC\xA0"};
    double number;
    if (text.len < 2 || myr_str_to_double(text, &number)) {
        return false; /* "-" alone stands for nothing, and "-5" is what it looks like */
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(starts); i++) {
        size_t len = strlen(starts[i]);
        if (text.len > len && memcmp(text.data, starts[i], len) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a formula follows the apostrophes in front; a text may have had some of its own. */
static bool escaped_formula(struct myr_str text, size_t *ret_apostrophes)
{
    size_t count = 0;
    while (count < text.len && text.data[count] == '\'') {
        count++;
    }
    *ret_apostrophes = count;
    return begins_formula((struct myr_str){text.data + count, text.len - count});
}

/*
 * An apostrophe in front makes it text in a spreadsheet. It goes too where apostrophes stand
 * already: myr_csv_text() takes one away, and must give back what was put.
 */
void myr_csv_put_text(struct myr_buf *buf, struct myr_str field)
{
    size_t apostrophes;
    if (!escaped_formula(field, &apostrophes)) {
        myr_csv_put(buf, field);
        return;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf safe = {};
    myr_buf_putc(&safe, '\'');
    myr_buf_put(&safe, field.data, field.len);
    myr_csv_put(buf, (struct myr_str){safe.data, safe.len});
}

/* The counterpart of myr_csv_put_text(): only what it would have guarded loses an apostrophe. */
struct myr_str myr_csv_text(struct myr_str field)
{
    size_t apostrophes;
    bool escaped = escaped_formula(field, &apostrophes) && apostrophes > 0;
    return escaped ? (struct myr_str){field.data + 1, field.len - 1} : field;
}
