/*
 * What holds for readers whatever the text is: nothing goes beyond what a cabling may hold, any
 * character is read as JSON writes it, graphs mean the same however they are laid out, and columns
 * of lists are found by their heads (held against tests/kept/site-heads.txt; MYRIAD_KEPT=write
 * writes it anew).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "import_texts.h"
#include "kept.h"
#include "myriad/site.h"

enum { SEED = 20261119, GRAPHS = 150, EDGES_MOST = 12, HEADS = 260, HEADS_MOST = 8 };

struct fixture {
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_import import;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    myr_cabling_init(&f->cabling, &f->arena);
    myr_import_init(&f->import, &f->cabling);
}

static void finish(struct fixture *f)
{
    myr_import_done(&f->import);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

static bool name_is(const struct fixture *f, struct myr_cabling_end end, const char *device,
                    const char *port)
{
    return myr_str_eq(f->cabling.devices.items[end.device].name, myr_str_from(device)) &&
           myr_str_eq(end.port, myr_str_from(port));
}

/* --- room */

/* A cabling that says of itself that it is full: nothing more may be put into it. */
static int read_into_full(const struct import_text *one, size_t links, struct myr_err *ret)
{
    struct fixture f;
    begin(&f);
    f.cabling.links.count = links;
    int rc = myr_import_text(&f.import, one->format, "leaf-9.txt", myr_str_from(one->text), &f.err);
    assert_int_equal(f.cabling.links.count, links);
    f.cabling.links.count = 0;
    *ret = f.err;
    finish(&f);
    return rc;
}

static void no_reader_puts_more_into_a_cabling_than_it_may_hold(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(import_texts); i++) {
        const struct import_text *one = &import_texts[i];
        struct myr_err err = {};
        if (one->format == MYR_IMPORT_IBQUERYERRORS) {
            continue; /* counters of what is there already */
        }
        int rc = read_into_full(one, MYR_IMPORT_LINKS_MAX, &err);
        if (rc != MYR_EINVAL || !strstr(err.message, "links, the most allowed")) {
            fail_msg("%s: %d %s", one->name, rc, err.message);
        }
        assert_int_equal(strncmp(err.message, "leaf-9.txt:", 11), 0);
    }
}

/* --- characters */

static size_t naive_utf8(uint32_t code, char ret[5])
{
    static const struct {
        uint32_t below, head;
    } rows[] = {{0x80, 0}, {0x800, 0xC0}, {0x10000, 0xE0}, {0x110000, 0xF0}};
    size_t more = 0;
    while (code >= rows[more].below) {
        more++;
    }
    for (size_t i = 0; i <= more; i++) {
        uint32_t bits = code >> (6 * (more - i));
        ret[i] = (char)(i ? 0x80 | (bits & 0x3F) : rows[more].head | bits);
    }
    ret[more + 1] = '\0';
    return more + 1;
}

/* As JSON escapes it: beyond 16 bits two halves; capitals or not. */
static const char *escaped(uint32_t code, bool capitals, char ret[16])
{
    uint32_t rest = code - 0x10000;
    if (code < 0x10000) {
        snprintf(ret, 16, capitals ? "\\u%04X" : "\\u%04x", code);
    } else {
        snprintf(ret, 16, capitals ? "\\u%04X\\u%04X" : "\\u%04x\\u%04x", 0xD800 + (rest >> 10),
                 0xDC00 + (rest & 0x3FF));
    }
    return ret;
}

/*
 * A neighbour and its port with this in their names, told by lldpd: nothing is meant by what is no
 * JSON. Names with signs that no terminal shows are none.
 */
static void check_characters(const char *written, const char *meant)
{
    struct fixture f;
    char text[300], device[40], port[40];
    begin(&f);
    snprintf(device, sizeof(device), "n%sx", meant);
    snprintf(port, sizeof(port), "p%s", meant);
    snprintf(text, sizeof(text),
             "{\"lldp\": {\"interface\": {\"swp1\": {\"chassis\": {\"n%sx\": {}}, \"port\": "
             "{\"id\": {\"type\": \"ifname\", \"value\": \"p%s\"}}}}}}",
             written, written);
    int rc = myr_import_text(&f.import, MYR_IMPORT_LLDP, "leaf-1.json", myr_str_from(text), &f.err);
    if (meant[0] == '\0') {
        assert_int_equal(rc, MYR_EINVAL);
    } else if (rc < 0 || f.cabling.links.count != (meant[0] > 0 && meant[0] <= ' ' ? 0 : 1)) {
        fail_msg("%s: %zu cables, %s", written, f.cabling.links.count, f.err.message);
    } else if (f.cabling.links.count && !name_is(&f, f.cabling.links.items[0].b, device, port)) {
        fail_msg("%s is not read as %s", written, meant);
    }
    finish(&f);
}

static void every_character_is_read_as_json_writes_it(void **state)
{
    (void)state;
    static const uint32_t borders[] = {
        0x21,   0x41,   0x7E,   0xA1,    0x7FF,   0x800,   0xFFF,   0x1000,  0xD7FF,  0xE000,
        0xFFFC, 0xFFFD, 0xFFFF, 0x10000, 0x103FF, 0x10400, 0x1F600, 0x3FFFF, 0x40000, 0x10FFFF};
    struct myr_rng rng;
    char meant[5], written[16];
    myr_rng_init(&rng, SEED, 1);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t code = i < MYR_ARRAY_COUNT(borders)
                            ? borders[i]
                            : 0xA1 + myr_rng_below(&rng, i % 2 ? 0x10FFFF - 0xA1 : 0xD000);
        if (code < 0xD800 || code >= 0xE000) {
            (void)naive_utf8(code, meant);
            check_characters(escaped(code, i % 3 == 0, written), meant);
        }
    }
    /* A half without the other is no character, and takes nothing of what follows with it. */
    (void)naive_utf8(0xFFFD, meant);
    static const char *const halves[][2] = {{"\\ud800", ""},
                                            {"\\udbff", ""},
                                            {"\\udc00", ""},
                                            {"\\uDFFF", ""},
                                            {"\\ud83dA", "A"},
                                            {"\\ud83d\\u0041", "A"},
                                            {"\\ud83d/u0041", "/u0041"}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(halves); i++) {
        char whole[20];
        snprintf(whole, sizeof(whole), "%s%s", meant, halves[i][1]);
        check_characters(halves[i][0], whole);
    }
    snprintf(written, sizeof(written), "%s%s", meant, meant);
    check_characters("\\ud83d\\ud83d", written);
    check_characters("\\udc00\\ud83d", written);
    check_characters("\\\"\\\\\\/", "\"\\/");
    static const char *const hidden[][2] = {{"\\u0001", "\x01"}, {"\\u001f", "\x1f"}, {"\\n", "\n"},
                                            {"\\t", "\t"},       {"\\b", "\b"},       {"\\f", "\f"},
                                            {"\\r", "\r"}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(hidden); i++) {
        check_characters(hidden[i][0], hidden[i][1]);
    }
    static const char *const bad[] = {"\\u",     "\\u1",    "\\u123",  "\\u00g1",
                                      "\\u 041", "\\x41",   "\\U0041", "\\a",
                                      "\\u/041", "\\u:041", "\\u@041", "\\u`041"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        check_characters(bad[i], "");
    }
}

/* --- graphs */

struct edge {
    char names[4][8];
};

static void put_one_of(struct myr_buf *out, struct myr_rng *rng, const char *const *ways,
                       size_t count)
{
    myr_buf_puts(out, ways[myr_rng_below(rng, (uint32_t)count)]);
}
#define PUT_ONE_OF(out, rng, ways) put_one_of((out), (rng), (ways), MYR_ARRAY_COUNT(ways))

static void put_name(struct myr_buf *out, struct myr_rng *rng, const char *name)
{
    const char *quote = strchr(name, ' ') || myr_rng_below(rng, 2) ? "\"" : "";
    myr_buf_printf(out, "%s%s%s", quote, name, quote);
}

/* One edge in one of the ways in which people and tools write it. */
static void put_edge(struct myr_buf *out, struct myr_rng *rng, const struct edge *edge)
{
    static const char *const before[] = {"",
                                         " ",
                                         "\t",
                                         "/* one */",
                                         "/* a\n b */ ",
                                         "\n",
                                         "# x\n",
                                         "// \"a\":\"b\" -- \"c\":\"d\"\n",
                                         "node [shape=box];",
                                         "node [shape=box] // \"a\n",
                                         "node [a=b]/*\"a\":\"b\" -- \"c\":\"d\"*/",
                                         "BFD=\"x:y\";"};
    static const char *const arrows[] = {" -- ", " -> ", " --", "\t->\t"};
    static const char *const after[] = {
        ";", " ;", "\n", "[k=v];", ";;", " [a=\"x\", b=y]\n", " # remark\n", " // remark\n"};
    PUT_ONE_OF(out, rng, before);
    put_name(out, rng, edge->names[0]);
    myr_buf_putc(out, ':');
    put_name(out, rng, edge->names[1]);
    PUT_ONE_OF(out, rng, arrows);
    put_name(out, rng, edge->names[2]);
    myr_buf_putc(out, ':');
    put_name(out, rng, edge->names[3]);
    PUT_ONE_OF(out, rng, after);
}

static void graphs_mean_the_same_however_they_are_laid_out(void **state)
{
    (void)state;
    static const char *const heads[] = {"graph G {\n", "strict graph \"G 1\" {", "graph {",
                                        "/* made */ graph G\n{\n", "digraph G {\n"};
    static const char *const ends[] = {"}\n", "\n}", "}", "\n} # end\n", ""};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t seed = 0; seed < GRAPHS; seed++) {
        struct fixture f;
        struct myr_rng rng;
        struct edge edges[EDGES_MOST];
        myr_rng_init(&rng, SEED, 1000 + seed);
        begin(&f);
        myr_buf_clear(&text);
        PUT_ONE_OF(&text, &rng, heads);
        uint32_t count = myr_rng_below(&rng, EDGES_MOST + 1);
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < 4; k++) {
                snprintf(edges[i].names[k], sizeof(edges[i].names[k]), "%c%u%s", k % 2 ? 'p' : 'd',
                         10 * i + k + myr_rng_below(&rng, 2), myr_rng_below(&rng, 6) ? "" : " x");
            }
            put_edge(&text, &rng, &edges[i]);
        }
        PUT_ONE_OF(&text, &rng, ends);
        int rc = myr_import_text(&f.import, MYR_IMPORT_PTM, "topology.dot",
                                 (struct myr_str){text.data, text.len}, &f.err);
        if (rc < 0 || f.cabling.links.count != count) {
            fail_msg("seed %u: %s, %zu cables of %u in\n%s", seed, f.err.message,
                     f.cabling.links.count, count, text.data);
        }
        for (uint32_t i = 0; i < count; i++) {
            const struct myr_cabling_link *link = &f.cabling.links.items[i];
            assert_true(name_is(&f, link->a, edges[i].names[0], edges[i].names[1]));
            assert_true(name_is(&f, link->b, edges[i].names[2], edges[i].names[3]));
            assert_false(link->one_sided);
        }
        finish(&f);
    }
}

static void graphs_that_are_broken_are_refused_in_their_place(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"graph { a:b -", "t:1:13: '--' is expected"},
        {"graph { a:b - c:d }", "t:1:13: '--' is expected"},
        {"graph { a:b }", "t:1:13: '--' is expected"},
        {"graph { a:b --", "t:1:15: \"device\":\"port\" is expected"},
        {"graph { a:b -- c }", "t:1:15: \"device\":\"port\" is expected"},
        {"graph { a -- c:d }", "t:1:9: \"device\":\"port\" is expected"},
        {"graph { a: -- c:d }", "t:1:15: '--' is expected"},
        {"graph {\n a:b -- a:b; }", "t:2:12: the cable ends where it begins"},
        {"graph {\n a:\"b -- c:d; }", "t:2:2: a device and a port of 1 to"},
        {"graph {\n \"a:\"b\" -- \"c\":\"d\";\n}", "t:2:2: \"device\":\"port\" is expected"},
        {"graph {\n \"a\":\"b\" -- \"c\":\"d;\n}", "t:2:12: a device and a port of 1 to"},
        {"graph { \"a:b -- c:d; }", "t:1:9: \"device\":\"port\" is expected"},
        {"graph { \"\":b -- c:d; }", "t:1:9: \"device\":\"port\" is expected"},
        {"graph { a:\"\" -- c:d; }", "t:1:9: a device and a port of 1 to"},
        {"graph { a:\"\x01\" -- c:d; }", "t:1:9: a device and a port of 1 to"},
        {"grap { }", "t:1:1: \"device\":\"port\" -- \"device\":\"port\" is expected"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture f;
        begin(&f);
        int rc = myr_import_text(&f.import, MYR_IMPORT_PTM, "t", myr_str_from(rows[i][0]), &f.err);
        if (rc != MYR_EINVAL || strncmp(f.err.message, rows[i][1], strlen(rows[i][1])) != 0) {
            fail_msg("%s: %d %s", rows[i][0], rc, f.err.message);
        }
        finish(&f);
    }
}

/* Of a neighbour without an interface, or without a name, nothing is left to the next one. */
static void neighbours_take_nothing_from_each_other(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"lldp\": [{\"interface\": ["
        "{\"chassis\": [{\"name\": [{\"value\": \"wrong\"}]}], \"port\": [{\"id\": [{\"type\": "
        "\"ifname\", \"value\": \"p9\"}]}]}, "
        "{\"name\": \"swp1\", \"port\": [{\"id\": [{\"type\": \"ifname\", \"value\": \"p1\"}]}]}, "
        "{\"name\": \"swp2\", \"chassis\": [{\"name\": [{\"value\": \"good\"}]}], \"port\": "
        "[{\"id\": [{\"type\": \"ifname\", \"value\": \"p2\"}]}]}]}]}",
        "{\"lldp\": {\"interface\": ["
        "{\"swp1\": {\"port\": {\"id\": {\"type\": \"ifname\", \"value\": \"p1\"}}}}, "
        "{\"swp2\": {\"chassis\": {\"good\": {}}, \"port\": {\"id\": {\"type\": \"ifname\", "
        "\"value\": \"p2\"}}}}, "
        "{\"swp3\": {\"port\": {\"id\": {\"type\": \"ifname\", \"value\": \"p3\"}}}}]}}"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct fixture f;
        begin(&f);
        assert_int_equal(myr_import_text(&f.import, MYR_IMPORT_LLDP, "leaf-1.json",
                                         myr_str_from(texts[i]), &f.err),
                         MYR_OK);
        assert_int_equal(f.cabling.links.count, 1);
        assert_true(name_is(&f, f.cabling.links.items[0].a, "leaf-1", "swp2"));
        assert_true(name_is(&f, f.cabling.links.items[0].b, "good", "p2"));
        finish(&f);
    }
}

/* --- hosts and their domains */

static void a_host_is_one_with_and_without_its_domain(void **state)
{
    (void)state;
    enum { LONGEST = 60 };
    char host[LONGEST + 1] = "", text[4 * LONGEST + 100];
    for (size_t len = 1; len <= LONGEST; len++) {
        struct fixture f;
        host[len - 1] = (char)('a' + len % 26);
        begin(&f);
        snprintf(text, sizeof(text),
                 "A-Node,A-Port,Z-Node,Z-Port\n%s,1,leaf,1\n%s.site.example,2,leaf,2\n"
                 "other.site.example,1,leaf,3\n",
                 host, host);
        assert_int_equal(
            myr_import_text(&f.import, MYR_IMPORT_P2P, "t", myr_str_from(text), &f.err), MYR_OK);
        myr_import_finish(&f.import);
        const struct myr_cabling_link *links = f.cabling.links.items;
        assert_int_equal(links[0].a.device, links[1].a.device);
        assert_int_not_equal(links[0].a.device, links[2].a.device);
        assert_int_equal(links[0].b.device, links[2].b.device);
        finish(&f);
    }
}

/* What stands behind a dot is a domain when it begins with a letter and the name is one word. */
static void what_is_no_domain_makes_two_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
        bool same;
    } rows[] = {
        {"gpu1", "gpu1.net", true},   {"gpu1", "GPU1.a.b", true}, {"gpu1", "gpu1.n", true},
        {"gpu1", "gpu1.9net", false}, {"gpu1", "gpu1.", false},   {"gpu1", "gpu1.-n", false},
        {"g 1", "g 1.net", false},    {"g;1", "g;1.net", false},  {"gpu1", "gpu2.net", false},
        {"10", "10.0.0.3", false},    {".net", "x.net", false},   {"gpu1", "gpu1x", false}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture f;
        char text[300];
        begin(&f);
        snprintf(text, sizeof(text), "A-Node,A-Port,Z-Node,Z-Port\n%s,1,leaf,1\n%s,2,leaf,2\n",
                 rows[i].one, rows[i].other);
        assert_int_equal(
            myr_import_text(&f.import, MYR_IMPORT_P2P, "t", myr_str_from(text), &f.err), MYR_OK);
        myr_import_finish(&f.import);
        const struct myr_cabling_link *links = f.cabling.links.items;
        if ((links[0].a.device == links[1].a.device) != rows[i].same) {
            fail_msg("'%s' and '%s'", rows[i].one, rows[i].other);
        }
        finish(&f);
    }
}

/* --- heads of lists */

/* A word for each of the four columns that must be there, outright or as its neighbours tell. */
static const char *const head_words[4][7] = {
    {"A-Node Name", "Source Device", "a_device", "From", "Source", "Name", "node name"},
    {"A-Port", "Source Port", "From Port", "A port name", "HCA/Port", "Port", "Port"},
    {"Z-Node Name", "To Device", "z-device", "To", "Destination", "Name", "Node Name"},
    {"Z-Port", "Destination Port", "To Port", "zportname", "HCA/Port", "Port", "Port"}};
/* What stands beside them: of no meaning, of another, or of one that is there already. */
static const char *const more_words[] = {"Rack",        "U",      "Label", "Speed", "Lanes",
                                         "Errors",      "Name",   "Port",  "From",  "To",
                                         "Destination", "Source", "Node",  "Name"};

static void put_heads(struct myr_buf *out, struct myr_rng *rng)
{
    const char *heads[HEADS_MOST];
    uint32_t count = 4 + myr_rng_below(rng, HEADS_MOST - 3);
    for (uint32_t i = 0; i < count; i++) {
        heads[i] = i < 4 ? head_words[i][myr_rng_below(rng, 7)]
                         : more_words[myr_rng_below(rng, MYR_ARRAY_COUNT(more_words))];
    }
    for (uint32_t i = 0; i < count; i++) { /* in any order */
        uint32_t other = i + myr_rng_below(rng, count - i);
        const char *kept = heads[i];
        heads[i] = heads[other];
        heads[other] = kept;
        myr_buf_printf(out, "%s%s", i ? "," : "", heads[i]);
    }
}

static void put_list(struct myr_buf *out, uint32_t number, struct myr_rng *rng)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct fixture f;
    put_heads(&text, rng);
    uint32_t count = 1;
    for (size_t i = 0; i < text.len; i++) {
        count += text.data[i] == ',';
    }
    myr_buf_printf(out, "%u: %s\n", number, text.data);
    /* A cell is the number of its column: it shows which one was taken. */
    for (uint32_t row = 1; row < 3; row++) {
        for (uint32_t i = 0; i < count; i++) {
            myr_buf_printf(&text, "%s%u", i ? "," : "\n", 10 * row + i);
        }
    }
    myr_buf_putc(&text, '\n');
    begin(&f);
    if (myr_import_text(&f.import, MYR_IMPORT_P2P, "t", (struct myr_str){text.data, text.len},
                        &f.err) < 0) {
        myr_buf_printf(out, "  %s\n", f.err.message);
    }
    for (size_t i = 0; i < f.cabling.links.count; i++) {
        const struct myr_cabling_link *link = &f.cabling.links.items[i];
        const struct myr_str cells[] = {f.cabling.devices.items[link->a.device].name, link->a.port,
                                        f.cabling.devices.items[link->b.device].name, link->b.port,
                                        link->label};
        for (uint32_t c = 0; c < MYR_ARRAY_COUNT(cells); c++) {
            myr_buf_printf(out, " %.*s", (int)cells[c].len, cells[c].data);
        }
        myr_buf_printf(out, " | %u %u %llu\n", link->gbps, link->width,
                       (unsigned long long)link->errors);
    }
    finish(&f);
}

static void columns_are_found_by_heads_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 5);
    for (uint32_t number = 0; number < HEADS; number++) {
        put_list(&out, number, &rng);
    }
    assert_kept("site-heads.txt", &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_reader_puts_more_into_a_cabling_than_it_may_hold),
        cmocka_unit_test(every_character_is_read_as_json_writes_it),
        cmocka_unit_test(graphs_mean_the_same_however_they_are_laid_out),
        cmocka_unit_test(graphs_that_are_broken_are_refused_in_their_place),
        cmocka_unit_test(neighbours_take_nothing_from_each_other),
        cmocka_unit_test(a_host_is_one_with_and_without_its_domain),
        cmocka_unit_test(what_is_no_domain_makes_two_hosts),
        cmocka_unit_test(columns_are_found_by_heads_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
