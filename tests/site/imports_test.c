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

#include "import_texts.h"
#include "kept.h"
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

/* --- one device under several names */

static struct myr_str one_of(struct myr_rng *rng, const char *const *words, size_t count)
{
    return myr_str_from(words[pick(rng, count)]);
}
#define ONE_OF(rng, words) one_of((rng), (words), MYR_ARRAY_COUNT(words))

static void draw_devices(struct myr_rng *rng, struct myr_cabling *cabling)
{
    static const char *const names[] = {"gpu01",
                                        "GPU01",
                                        "gpu01.a.net",
                                        "gpu01.b.net",
                                        "Gpu02.a.net",
                                        "gpu02",
                                        "10.0.0.3",
                                        "lldp_gpu01_x.a",
                                        "my-gpu02@y",
                                        "aa:bb:cc:dd:ee:01",
                                        "AABB.CCDD.EE02",
                                        "gp",
                                        "x-gp",
                                        "gpu01.9net",
                                        "leaf 1.a.net",
                                        "leaf;1.a.net",
                                        "",
                                        "10.0.0.4",
                                        "gpu01.a",
                                        "aabb.ccdd.ee01",
                                        "lldp+gpu02.a.net",
                                        "xgpu01",
                                        "aa:bb:cc:dd:ee:02"};
    static const char *const macs[] = {"", "", "", "aa:bb:cc:dd:ee:01", "aa-bb-cc-dd-ee-02", "x"};
    static const char *const addresses[] = {"", "", "", "10.0.0.3", "10.0.0.4"};
    for (size_t i = 0; i < 3 + pick(rng, 6); i++) {
        struct myr_cabling_device device = {.name = ONE_OF(rng, names),
                                            .guid = pick(rng, 12) == 0 ? 7 + i : 0,
                                            .port_count = (uint32_t)pick(rng, 3),
                                            .is_switch = pick(rng, 2),
                                            .reported = pick(rng, 3) == 0,
                                            .by_file = pick(rng, 3) == 0,
                                            .line = (uint32_t)pick(rng, 3),
                                            .mac = ONE_OF(rng, macs),
                                            .address = ONE_OF(rng, addresses)};
        (void)myr_strmap_add(&cabling->names, device.name, (uint32_t)cabling->devices.count);
        myr_vec_push(&cabling->devices, device);
    }
    for (size_t i = 0; i < 2 + pick(rng, 4); i++) {
        struct myr_cabling_link link = {
            .a = {(uint32_t)pick(rng, cabling->devices.count), MYR_STR("a")},
            .b = {(uint32_t)pick(rng, cabling->devices.count), MYR_STR("b")},
            .one_sided = pick(rng, 3) > 0};
        struct myr_cabling_bare bare = {link.a, i % 2};
        myr_vec_push(&cabling->links, link);
        myr_vec_push(&cabling->bare, bare);
    }
}

static void devices_of_several_names_are_joined_as_they_were(void **state)
{
    (void)state;
    struct myr_buf out = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 1000);
    for (uint32_t number = 0; number < 120; number++) {
        struct myr_arena arena;
        struct myr_cabling cabling;
        struct myr_import import;
        myr_arena_init(&arena);
        myr_cabling_init(&cabling, &arena);
        myr_import_init(&import, &cabling);
        draw_devices(&rng, &cabling);
        myr_buf_printf(&out, "%u:", number);
        for (size_t i = 0; i < cabling.devices.count; i++) {
            const struct myr_cabling_device *device = &cabling.devices.items[i];
            myr_buf_printf(&out, " %.*s%s%s", (int)device->name.len, device->name.data,
                           device->by_file ? "!" : "", device->reported ? "*" : "");
        }
        myr_buf_putc(&out, '\n');
        myr_import_finish(&import);
        put_cabling(&out, &cabling, &import);
        for (uint32_t i = 0; i < cabling.names.count; i++) {
            myr_buf_printf(&out, "%s%u", i ? " " : "  names ", cabling.names.values[i]);
        }
        myr_buf_putc(&out, '\n');
        myr_import_done(&import);
        myr_cabling_done(&cabling);
        myr_arena_done(&arena);
    }
    assert_kept("site-joined.txt", &out);
    myr_buf_done(&out);
}

/* --- what a terminal leaves around a text */

static void sessions_are_cut_away_as_they_were(void **state)
{
    (void)state;
    static const char *const lines[] = {"admin@leaf01:~$ show lldp table",
                                        "[root@ufm-01 ~]# cat x",
                                        "root@sw1:mgmt:/tmp# ",
                                        "root@sw1>",
                                        "@sw1$ x",
                                        "root@$ x",
                                        "ro ot@sw1$ x",
                                        "root@sw1:~,$ x",
                                        "root@sw1:~$x",
                                        "Script started on Monday",
                                        "Script done on Tuesday",
                                        "Last login: never",
                                        "Warning: Permanently added x",
                                        "Connection to x closed.",
                                        "Connection to x refused",
                                        " closed.",
                                        "exit",
                                        "logout",
                                        "exit now",
                                        "",
                                        "  \t",
                                        "\r",
                                        "[x@y $ z",
                                        "a@b(c)# d",
                                        "logout \r",
                                        "A_0-z.9@Z$"};
    static const char *const bodies[] = {
        "A-Node,A-Port,Z-Node,Z-Port\na,1,b,2\n",
        "{\"lldp\": [{\"hostname\": \"a\", \"ifname\": \"1\", \"peerHostname\": \"b\", "
        "\"peerIfname\": \"2\"}]}"};
    struct myr_buf out = {}, text = {}, said = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 2000);
    for (uint32_t number = 0; number < 300; number++) {
        size_t heads = pick(&rng, number % 9 == 8 ? 15 : 3);
        size_t tails = pick(&rng, number % 9 == 7 ? 15 : 3);
        bool json = number % 2;
        myr_buf_clear(&text);
        myr_buf_clear(&said);
        for (size_t i = 0; i < heads; i++) {
            myr_buf_printf(&text, "%s\n", lines[pick(&rng, MYR_ARRAY_COUNT(lines))]);
        }
        myr_buf_puts(&text, bodies[json]);
        for (size_t i = 0; i < tails; i++) {
            myr_buf_printf(&text, "%s%s",
                           json && i == 0 ? ""
                           : i            ? "\n"
                                          : "",
                           lines[pick(&rng, MYR_ARRAY_COUNT(lines))]);
        }
        put_read(&said, MYR_IMPORT_AUTO, (struct myr_str){text.data, text.len}, MYR_STR(""), false);
        bool read = strncmp(said.data, "  device", 8) == 0;
        myr_buf_printf(&out, "%u: %zu before, %zu behind: %s %08x%s", number, heads, tails,
                       read ? "read" : "not", (unsigned)digest(1, &said), read ? "\n" : said.data);
    }
    assert_kept("site-sessions.txt", &out);
    myr_buf_done(&out);
    myr_buf_done(&text);
    myr_buf_done(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_as_they_were),
        cmocka_unit_test(devices_of_several_names_are_joined_as_they_were),
        cmocka_unit_test(sessions_are_cut_away_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
