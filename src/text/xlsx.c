#include "myriad/text/xlsx.h"

#include <stdio.h>
#include <zlib.h>

#include "letter/utf8.h"
#include "myriad/text/csv.h"

/*
 * A workbook is a zip of XML documents. Of the zip the list at its end is read; of the XML tags,
 * attributes and texts in their order, which is all that a sheet needs. Whatever does not fit is
 * refused: nothing is guessed.
 */

struct book {
    const char *file;
    struct myr_str bytes;
};

static int bad(const struct book *book, struct myr_err *err, const char *what)
{
    int rc = myr_err_set(err, MYR_EINVAL, "%s: %s", book->file, what);
    myr_err_hint(err, "saved as CSV it can be read");
    return rc;
}

/* ---- the zip ---- */

enum { END_BYTES = 22, ENTRY_BYTES = 46, LOCAL_BYTES = 30, STORED = 0, DEFLATED = 8 };

/* Little endian; 0 behind the end, which no caller takes for something. */
static uint32_t number_at(struct myr_str bytes, size_t at, uint32_t len)
{
    uint32_t value = 0;
    for (uint32_t i = len; i-- > 0 && at + len <= bytes.len;) {
        value = value << 8 | (unsigned char)bytes.data[at + i];
    }
    return value;
}

/* Where the list of parts begins; 0: this is no zip. */
static size_t find_list(struct myr_str bytes)
{
    for (size_t back = END_BYTES; back <= bytes.len && back < END_BYTES + 65536; back++) {
        size_t at = bytes.len - back;
        if (number_at(bytes, at, 4) == 0x06054b50) {
            size_t list = number_at(bytes, at + 16, 4);
            return list < at ? list : 0;
        }
    }
    return 0;
}

static int inflate_all(const struct book *book, struct myr_str packed, size_t size,
                       struct myr_buf *ret, struct myr_err *err)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.data, .avail_in = (uInt)packed.len};
    char piece[1 << 14];
    int rc = inflateInit2(&stream, -15);
    MYR_ASSERT(rc == Z_OK);
    do {
        stream.next_out = (Bytef *)piece;
        stream.avail_out = sizeof(piece);
        rc = inflate(&stream, Z_NO_FLUSH);
        myr_buf_put(ret, piece, sizeof(piece) - stream.avail_out);
    } while (rc == Z_OK && ret->len <= size);
    (void)inflateEnd(&stream);
    return rc == Z_STREAM_END && ret->len == size ? MYR_OK
                                                  : bad(book, err, "a part of it is damaged");
}

/* 'ret' stays empty where there is no such part. */
static int part_of(const struct book *book, struct myr_str name, struct myr_buf *ret,
                   struct myr_err *err)
{
    struct myr_str bytes = book->bytes;
    size_t at = find_list(bytes);
    while (at && number_at(bytes, at, 4) == 0x02014b50) {
        size_t len = number_at(bytes, at + 28, 2);
        size_t next =
            at + ENTRY_BYTES + len + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
        if (next > bytes.len) {
            break;
        }
        if (!myr_str_eq((struct myr_str){bytes.data + at + ENTRY_BYTES, len}, name)) {
            at = next;
            continue;
        }
        uint32_t method = number_at(bytes, at + 10, 2);
        size_t packed = number_at(bytes, at + 20, 4), size = number_at(bytes, at + 24, 4);
        size_t local = number_at(bytes, at + 42, 4);
        size_t data =
            local + LOCAL_BYTES + number_at(bytes, local + 26, 2) + number_at(bytes, local + 28, 2);
        if (size > MYR_XLSX_BYTES_MAX) {
            return bad(book, err, "a part of it is larger than 32 MiB");
        }
        if (data > bytes.len || packed > bytes.len - data ||
            (method != STORED && method != DEFLATED)) {
            return bad(book, err, "a part of it is damaged");
        }
        struct myr_str from = {bytes.data + data, packed};
        if (method == STORED) {
            myr_buf_put(ret, from.data, from.len);
            return MYR_OK;
        }
        return inflate_all(book, from, size, ret, err);
    }
    return MYR_OK;
}

/* ---- XML, tag by tag ---- */

struct tags {
    const char *at, *end;
    struct myr_str name, attributes; /* of the tag; the name without its prefix */
    struct myr_str text;             /* before it */
    bool close, empty;
};

/* False at the end, and where a tag does not end. */
static bool next_tag(struct tags *tags)
{
    const char *open = memchr(tags->at, '<', (size_t)(tags->end - tags->at));
    const char *at = open ? open + 1 : tags->end;
    char quote = '\0';
    if (!open) {
        return false;
    }
    for (; at < tags->end && (quote || *at != '>'); at++) {
        quote = quote ? (*at == quote ? '\0' : quote) : *at == '"' || *at == '\'' ? *at : '\0';
    }
    if (at == tags->end) {
        return false;
    }
    tags->text = (struct myr_str){tags->at, (size_t)(open - tags->at)};
    tags->close = open[1] == '/';
    tags->empty = at[-1] == '/';
    const char *name = open + 1 + tags->close, *last = name;
    while (last < at && !strchr(" \t\r\n/", *last)) {
        last++;
    }
    tags->attributes = (struct myr_str){last, (size_t)(at - last)};
    const char *prefix = memchr(name, ':', (size_t)(last - name));
    name = prefix ? prefix + 1 : name;
    tags->name = (struct myr_str){name, (size_t)(last - name)};
    tags->at = at + 1;
    return true;
}

static bool is_tag(const struct tags *tags, const char *name)
{
    return myr_str_eq(tags->name, myr_str_from(name));
}

/* Empty where the tag has none of that name, which may have a prefix. */
static struct myr_str attribute(const struct tags *tags, const char *name)
{
    struct myr_str all = tags->attributes;
    size_t len = strlen(name);
    for (size_t i = 1; i + len + 2 < all.len; i++) {
        bool begins = strchr(" \t\r\n:", all.data[i - 1]) && memcmp(all.data + i, name, len) == 0;
        char quote = begins && all.data[i + len] == '=' ? all.data[i + len + 1] : '\0';
        if (quote == '"' || quote == '\'') {
            const char *from = all.data + i + len + 2;
            const char *end = memchr(from, quote, (size_t)(all.data + all.len - from));
            return end ? (struct myr_str){from, (size_t)(end - from)} : (struct myr_str){"", 0};
        }
    }
    return (struct myr_str){"", 0};
}

/* "lt;" or "#20013;" behind an ampersand: how much of it that takes; 0: it is none. */
static size_t put_entity(struct myr_str text, struct myr_buf *ret)
{
    static const struct {
        const char *name;
        char is;
    } names[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
    for (size_t k = 0; k < MYR_ARRAY_COUNT(names); k++) {
        size_t len = strlen(names[k].name);
        if (text.len >= len && memcmp(text.data, names[k].name, len) == 0) {
            myr_buf_putc(ret, names[k].is);
            return len;
        }
    }
    const char *end = memchr(text.data, ';', text.len < 12 ? text.len : 12);
    uint32_t code = 0;
    if (!end || text.len < 3 || text.data[0] != '#') {
        return 0;
    }
    bool hex = text.data[1] == 'x';
    for (const char *at = text.data + 1 + hex; at < end; at++) {
        uint32_t digit = *at >= '0' && *at <= '9'          ? (uint32_t)(*at - '0')
                         : hex && *at >= 'a' && *at <= 'f' ? (uint32_t)(*at - 'a' + 10)
                         : hex && *at >= 'A' && *at <= 'F' ? (uint32_t)(*at - 'A' + 10)
                                                           : 99;
        if (digit == 99 || code > 0x10FFFF) {
            return 0;
        }
        code = code * (hex ? 16 : 10) + digit;
    }
    char utf8[4];
    bool whole = code >= ' ' && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    myr_buf_put(ret, utf8, utf8_encode(whole ? code : ' ', utf8));
    return (size_t)(end - text.data) + 1;
}

/* What looks like an escape and is none stays as it is. Line ends become blanks. */
static void put_text(struct myr_str text, struct myr_buf *ret)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        size_t taken =
            c == '&' ? put_entity((struct myr_str){text.data + i + 1, text.len - i - 1}, ret) : 0;
        if (taken) {
            i += taken;
        } else {
            myr_buf_putc(ret, c == '\n' || c == '\r' || c == '\t' || c == '\0' ? ' ' : c);
        }
    }
}

/* ---- the workbook ---- */

/* Texts that cells share, one behind the other. */
struct shared {
    struct myr_buf text;
    MYR_VEC(size_t) ends;
};

/* A text in pieces of several looks is one; how it is spoken ('rPh') is none of it. */
static int read_shared(const struct book *book, struct shared *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf part = {};
    MYR_TRY(part_of(book, MYR_STR("xl/sharedStrings.xml"), &part, err));
    struct tags tags = {.at = part.data, .end = part.data + part.len};
    bool spoken = false;
    while (part.len && next_tag(&tags)) {
        if (is_tag(&tags, "rPh")) {
            spoken = !tags.close && !tags.empty;
        } else if (is_tag(&tags, "t") && tags.close && !spoken) {
            put_text(tags.text, &ret->text);
        } else if (is_tag(&tags, "si") && (tags.close || tags.empty)) {
            myr_vec_push(&ret->ends, ret->text.len);
        }
    }
    return MYR_OK;
}

/* The part that the workbook names first; else what writers call their first sheet. */
static int find_sheet(const struct book *book, struct myr_buf *name, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf part = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf links = {};
    struct myr_str id = {"", 0}, target = {"", 0};
    MYR_TRY(part_of(book, MYR_STR("xl/workbook.xml"), &part, err));
    MYR_TRY(part_of(book, MYR_STR("xl/_rels/workbook.xml.rels"), &links, err));
    struct tags tags = {.at = part.data, .end = part.data + part.len};
    while (part.len && !id.len && next_tag(&tags)) {
        id = is_tag(&tags, "sheet") ? attribute(&tags, "id") : id;
    }
    tags = (struct tags){.at = links.data, .end = links.data + links.len};
    while (links.len && id.len && !target.len && next_tag(&tags)) {
        if (is_tag(&tags, "Relationship") && myr_str_eq(attribute(&tags, "Id"), id)) {
            target = attribute(&tags, "Target");
        }
    }
    if (target.len && target.data[0] == '/') {
        myr_buf_put(name, target.data + 1, target.len - 1);
    } else if (target.len) {
        myr_buf_printf(name, "xl/%.*s", (int)target.len, target.data);
    } else {
        myr_buf_puts(name, "xl/worksheets/sheet1.xml");
    }
    return MYR_OK;
}

/* ---- the sheet ---- */

struct sheet {
    const struct book *book;
    const struct shared *shared;
    struct myr_buf *ret;
    uint32_t row, cells;  /* written so far: rows, and cells of this row */
    uint32_t row_number;  /* of the row in hand, from 1 */
    uint32_t column;      /* of the cell in hand, from 1 */
    struct myr_str type;  /* of the cell in hand */
    struct myr_buf value; /* the same */
};

/* "AB12": 28. */
static uint32_t column_of(struct myr_str name)
{
    uint32_t column = 0;
    for (size_t i = 0; i < name.len && name.data[i] >= 'A' && name.data[i] <= 'Z'; i++) {
        column = column < 100000 ? column * 26 + (uint32_t)(name.data[i] - 'A' + 1) : column;
    }
    return column;
}

/* Numbers as people write them: writers store 4.86811E7. */
static struct myr_str plain_number(struct myr_str text, char ret[40])
{
    double value;
    if (!memchr(text.data, 'E', text.len) || !myr_str_to_double(text, &value)) {
        return text;
    }
    int len = snprintf(ret, 40, value < 1e15 && value > -1e15 ? "%.9f" : "%.0f", value);
    const char *point = strchr(ret, '.');
    while (point && len > point - ret && (ret[len - 1] == '0' || ret + len - 1 == point)) {
        len--;
    }
    return (struct myr_str){ret, len > 0 && len < 40 ? (size_t)len : 0};
}

/* Cells come in the order of their columns; those between are empty. */
static int put_cell(struct sheet *sheet, struct myr_err *err)
{
    struct myr_str text = {sheet->value.data ? sheet->value.data : "", sheet->value.len};
    char number[40];
    uint64_t index;
    if (sheet->column == 0 || sheet->column > MYR_XLSX_CELLS_MAX || sheet->column <= sheet->cells) {
        return bad(sheet->book, err, "a row has cells out of order, or more than 256");
    }
    if (myr_str_eq(sheet->type, MYR_STR("s"))) {
        if (!myr_str_to_u64(text, &index) || index >= sheet->shared->ends.count) {
            return bad(sheet->book, err, "a cell names a text that is not there");
        }
        size_t from = index ? sheet->shared->ends.items[index - 1] : 0;
        text = (struct myr_str){sheet->shared->text.data ? sheet->shared->text.data + from : "",
                                sheet->shared->ends.items[index] - from};
    } else if (sheet->type.len == 0 || myr_str_eq(sheet->type, MYR_STR("n"))) {
        text = plain_number(text, number);
    }
    for (; sheet->cells + 1 < sheet->column; sheet->cells++) {
        myr_buf_putc(sheet->ret, ',');
    }
    myr_buf_puts(sheet->ret, sheet->cells && sheet->column > 1 ? "," : "");
    sheet->cells = sheet->column;
    myr_csv_put(sheet->ret, text);
    return MYR_OK;
}

/* A line of the CSV for each row of the sheet, also for those that it leaves out. */
static int begin_row(struct sheet *sheet, const struct tags *tags, struct myr_err *err)
{
    uint64_t number = (uint64_t)sheet->row_number + 1;
    struct myr_str given = attribute(tags, "r");
    if (given.len && !myr_str_to_u64(given, &number)) {
        number = 0;
    }
    if (number <= sheet->row_number || number > MYR_XLSX_ROWS_MAX) {
        return bad(sheet->book, err, "rows are out of order, or more than 200,000");
    }
    for (; sheet->row_number < number; sheet->row_number++) {
        myr_buf_puts(sheet->ret, sheet->row_number ? "\n" : "");
    }
    sheet->cells = sheet->column = 0;
    return MYR_OK;
}

static int read_sheet(struct sheet *sheet, struct myr_str part, struct myr_err *err)
{
    struct tags tags = {.at = part.data, .end = part.data + part.len};
    while (next_tag(&tags)) {
        if (is_tag(&tags, "row") && !tags.close) {
            MYR_TRY(begin_row(sheet, &tags, err));
        } else if (is_tag(&tags, "c") && !tags.close) {
            struct myr_str name = attribute(&tags, "r");
            sheet->column = name.len ? column_of(name) : sheet->column + 1;
            sheet->type = attribute(&tags, "t");
            myr_buf_clear(&sheet->value);
        } else if ((is_tag(&tags, "v") || is_tag(&tags, "t")) && tags.close) {
            put_text(tags.text, &sheet->value);
        } else if (is_tag(&tags, "c") && sheet->value.len) {
            MYR_TRY(put_cell(sheet, err));
        }
    }
    myr_buf_putc(sheet->ret, '\n');
    return MYR_OK;
}

int myr_xlsx_csv(const char *file, struct myr_str bytes, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf part = {};
    const struct book book = {file, bytes};
    struct shared shared = {};
    struct sheet sheet = {.book = &book, .shared = &shared, .ret = ret};
    if (!find_list(bytes)) {
        return bad(&book, err, "no workbook: the list of its parts is not there");
    }
    int rc = find_sheet(&book, &name, err);
    if (rc == MYR_OK) {
        rc = part_of(&book, (struct myr_str){name.data, name.len}, &part, err);
    }
    if (rc == MYR_OK && part.len == 0) {
        rc = bad(&book, err, "no workbook: it has no sheet");
    }
    if (rc == MYR_OK) {
        rc = read_shared(&book, &shared, err);
    }
    if (rc == MYR_OK) {
        rc = read_sheet(&sheet, (struct myr_str){part.data, part.len}, err);
    }
    myr_buf_done(&sheet.value);
    myr_buf_done(&shared.text);
    myr_vec_done(&shared.ends);
    return rc;
}
