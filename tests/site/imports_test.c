/*
 * Every field that the readers take from texts of every format, and what they say of texts that are
 * nearly like them, held against what it was when somebody last looked
 * (tests/kept/site-imports.txt; MYRIAD_KEPT=write writes it anew). The fuzzers look at who is
 * plugged into whom; this at speeds, widths, errors, light, lengths, lines, and at where a message
 * points.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../leaks/kept.h"
#include "import_texts.h"
#include "myriad/site.h"

enum { SEED = 20270120, VARIANTS = 200, TOGETHER = 25 };

static void put_text(struct myr_buf *out, const char *name, struct myr_str text)
{
    if (text.len) {
        myr_buf_printf(out, " %s '%.*s'", name, (int)text.len, text.data);
    }
}

static void put_number(struct myr_buf *out, const char *name, uint64_t number)
{
    if (number) {
        myr_buf_printf(out, " %s %llu", name, (unsigned long long)number);
    }
}

static void put_end(struct myr_buf *out, const struct myr_cabling_end *end)
{
    myr_buf_printf(out, " %u:%.*s", end->device, (int)end->port.len, end->port.data);
}

static void put_light(struct myr_buf *out, const char *name, const struct myr_light *light)
{
    if (light->lanes) {
        myr_buf_printf(out, " %s %u lanes %.3f %.3f %.3f", name, light->lanes, light->least,
                       light->next, light->most);
    }
}

static void put_devices(struct myr_buf *out, const struct myr_cabling *cabling)
{
    for (size_t i = 0; i < cabling->devices.count; i++) {
        const struct myr_cabling_device *device = &cabling->devices.items[i];
        myr_buf_printf(out, "  device %zu '%.*s'", i, (int)device->name.len, device->name.data);
        if (device->guid || device->port_guid) {
            myr_buf_printf(out, " %llx %llx", (unsigned long long)device->guid,
                           (unsigned long long)device->port_guid);
        }
        put_number(out, "ports", device->port_count);
        put_number(out, "line", device->line);
        put_text(out, "mac", device->mac);
        put_text(out, "address", device->address);
        myr_buf_printf(out, "%s%s%s\n", device->is_switch ? " switch" : "",
                       device->reported ? " reported" : "", device->by_file ? " by file" : "");
    }
}

static void put_links(struct myr_buf *out, const struct myr_cabling *cabling)
{
    for (size_t i = 0; i < cabling->links.count; i++) {
        const struct myr_cabling_link *link = &cabling->links.items[i];
        myr_buf_put_lit(out, "  link");
        put_end(out, &link->a);
        put_end(out, &link->b);
        put_number(out, "gbps", link->gbps);
        put_number(out, "width", link->width);
        put_number(out, "errors", link->errors);
        put_number(out, "line", link->line);
        put_number(out, "file", link->file);
        put_number(out, "mm", link->length_mm);
        put_text(out, "label", link->label);
        put_text(out, "medium", link->medium);
        if (link->ber > 0) {
            myr_buf_printf(out, " ber %.3g", link->ber);
        }
        myr_buf_printf(out, "%s%s\n", link->no_fec ? " no fec" : "",
                       link->one_sided ? " one-sided" : "");
    }
}

static void put_cabling(struct myr_buf *out, const struct myr_cabling *cabling,
                        const struct myr_import *import)
{
    put_devices(out, cabling);
    put_links(out, cabling);
    for (size_t i = 0; i < cabling->bare.count; i++) {
        myr_buf_puts(out, cabling->bare.items[i].unknown ? "  unknown" : "  bare");
        put_end(out, &cabling->bare.items[i].end);
        myr_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < cabling->errors.count; i++) {
        const struct myr_cabling_errors *row = &cabling->errors.items[i];
        myr_buf_printf(out, "  errors %llx %.*s %llu\n", (unsigned long long)row->guid,
                       (int)row->port.len, row->port.data, (unsigned long long)row->count);
    }
    for (size_t i = 0; i < cabling->optics.count; i++) {
        const struct myr_cabling_optic *row = &cabling->optics.items[i];
        myr_buf_printf(out, "  optic %llx %.*s medium %d line %u", (unsigned long long)row->guid,
                       (int)row->port.len, row->port.data, (int)row->medium, row->line);
        put_light(out, "rx", &row->rx);
        put_light(out, "tx", &row->tx);
        myr_buf_putc(out, '\n');
    }
    myr_buf_printf(out, "  %s, %u files, %u cut, %u others\n",
                   cabling->numbered ? "numbered" : "named", import->file_count,
                   import->truncated_count, import->other_count);
}

/* Reads one text, or two, and says what came of it. */
static void put_read(struct myr_buf *out, enum myr_import_format format, struct myr_str text,
                     struct myr_str second, bool partial)
{
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_import import;
    struct myr_err err = {};
    myr_arena_init(&arena);
    myr_cabling_init(&cabling, &arena);
    myr_import_init(&import, &cabling);
    import.partial = partial;
    int rc = myr_import_text(&import, format, "leaf-9.txt", text, &err);
    if (rc == MYR_OK && second.len) {
        rc = myr_import_text(&import, format, "spine-9.json", second, &err);
    }
    if (rc < 0) {
        myr_buf_printf(out, "  %s%s%s\n", err.message, err.hint[0] ? "; " : "", err.hint);
    } else {
        myr_import_finish(&import);
        put_cabling(out, &cabling, &import);
    }
    myr_import_done(&import);
    myr_cabling_done(&cabling);
    myr_arena_done(&arena);
}

/* --- texts that are nearly like one */

static size_t pick(struct myr_rng *rng, size_t count)
{
    return count ? myr_rng_below(rng, (uint32_t)count) : 0;
}

static void replace(struct myr_buf *text, size_t at, size_t len, const char *by)
{
    struct myr_buf made = {};
    myr_buf_put(&made, text->data, at);
    myr_buf_puts(&made, by);
    myr_buf_put(&made, text->data + at + len, text->len - at - len);
    myr_buf_done(text);
    *text = made;
}

static void change_line(struct myr_rng *rng, struct myr_buf *text, bool twice)
{
    size_t at = pick(rng, text->len), end;
    while (at > 0 && text->data[at - 1] != '\n') {
        at--;
    }
    for (end = at; end < text->len && text->data[end] != '\n'; end++) {
    }
    end += end < text->len;
    struct myr_buf line = {};
    myr_buf_put(&line, text->data + at, end - at);
    if (twice && line.len) {
        replace(text, at, 0, line.data);
    } else {
        replace(text, at, end - at, "");
    }
    myr_buf_done(&line);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void change_number(struct myr_rng *rng, struct myr_buf *text)
{
    static const char *const numbers[] = {"0",    "1",  "2",          "16",
                                          "17",   "64", "65",         "255",
                                          "1001", "-1", "4294967296", "99999999999999999999",
                                          "1.5",  "x"};
    size_t at = pick(rng, text->len), end;
    while (at < text->len && !is_digit(text->data[at])) {
        at++;
    }
    for (end = at; end < text->len && is_digit(text->data[end]); end++) {
    }
    replace(text, at, end - at, numbers[pick(rng, MYR_ARRAY_COUNT(numbers))]);
}

static void change_sign(struct myr_rng *rng, struct myr_buf *text, bool add)
{
    static const char *const signs[] = {"{", "}",  "[",  "]",    "\"",   ",",        ":",
                                        ";", "|",  "(",  ")",    "-",    "=",        "\\",
                                        " ", "\n", "\t", "\x01", "/",    "\\u0041",  "\\n",
                                        "<", "'",  "#",  "?",    "\r\n", "\xc3\xa9", "null"};
    size_t at = pick(rng, text->len);
    const char *sign = signs[pick(rng, MYR_ARRAY_COUNT(signs))];
    if (add) {
        replace(text, at, 0, sign);
        return;
    }
    for (size_t i = 0; i < text->len; i++, at = (at + 1) % text->len) {
        if (text->data[at] == *sign) {
            replace(text, at, 1, "");
            return;
        }
    }
}

/* One word in place of another one of the same text, or in capitals, or far too long. */
static void change_word(struct myr_rng *rng, struct myr_buf *text)
{
    size_t from = pick(rng, text->len), at = pick(rng, text->len), end, len;
    char word[400] = "";
    const char *stops = " \",:;|{}[]()\n\t'";
    while (at > 0 && !strchr(stops, text->data[at - 1])) {
        at--;
    }
    for (end = at; end < text->len && !strchr(stops, text->data[end]); end++) {
    }
    for (len = 0; from + len < text->len && len < 40 && !strchr(stops, text->data[from + len]);
         len++) {
        word[len] = text->data[from + len];
    }
    if (pick(rng, 6) == 0) {
        memset(word, 'w', 300);
    } else if (pick(rng, 4) == 0) {
        for (size_t i = 0; word[i]; i++) {
            word[i] = (char)(word[i] >= 'a' && word[i] <= 'z' ? word[i] - 32 : word[i]);
        }
    }
    replace(text, at, end - at, word);
}

static void change(struct myr_rng *rng, struct myr_buf *text)
{
    switch (pick(rng, 9)) {
    case 0:
        change_line(rng, text, false);
        break;
    case 1:
        change_line(rng, text, true);
        break;
    case 2:
    case 3:
        change_number(rng, text);
        break;
    case 4:
        change_sign(rng, text, false);
        break;
    case 5:
        change_sign(rng, text, true);
        break;
    case 6:
        replace(text, text->len - pick(rng, text->len), pick(rng, 1), "");
        text->len -= pick(rng, text->len);
        text->data[text->len] = '\0';
        break;
    default:
        change_word(rng, text);
        break;
    }
}

static uint64_t digest(uint64_t so_far, const struct myr_buf *text)
{
    for (size_t i = 0; i < text->len; i++) {
        so_far = (so_far ^ (uint8_t)text->data[i]) * UINT64_C(1099511628211);
    }
    return so_far;
}

/* Messages of the variants in plain sight; of what is read of them a digest, ten at a time. */
static void put_variants(struct myr_buf *out, const struct import_text *one, struct myr_rng *rng)
{
    struct myr_buf said = {}, text = {};
    uint64_t sum = 1;
    uint32_t read = 0;
    for (uint32_t v = 0; v < VARIANTS; v++) {
        myr_buf_clear(&text);
        myr_buf_clear(&said);
        myr_buf_puts(&text, one->text);
        for (size_t i = 0; i <= pick(rng, 2); i++) {
            change(rng, &text);
        }
        put_read(&said, v % 3 ? one->format : MYR_IMPORT_AUTO,
                 (struct myr_str){text.data, text.len}, MYR_STR(""), v % 5 == 4);
        if (strncmp(said.data, "  leaf-9.txt", 12) == 0) {
            myr_buf_printf(out, "  %u%s", v, said.data);
        } else {
            sum = digest(sum, &said);
            read++;
        }
        if (v % TOGETHER == TOGETHER - 1) {
            myr_buf_printf(out, "  %u read: %08x\n", read, (unsigned)sum);
            read = 0;
        }
    }
    myr_buf_done(&said);
    myr_buf_done(&text);
}

static void texts_are_read_as_they_were(void **state)
{
    (void)state;
    struct myr_buf out = {};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(import_texts); i++) {
        const struct import_text *one = &import_texts[i];
        struct myr_rng rng;
        myr_rng_init(&rng, SEED, i);
        myr_buf_printf(&out, "%s: %s\n", myr_import_names[one->format], one->name);
        put_read(&out, MYR_IMPORT_AUTO, myr_str_from(one->text), MYR_STR(""), false);
        if (one->second) {
            myr_buf_put_lit(&out, " and another\n");
            put_read(&out, one->format, myr_str_from(one->text), myr_str_from(one->second), true);
        }
        put_variants(&out, one, &rng);
    }
    assert_kept("site-imports.txt", &out);
    myr_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_read_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
