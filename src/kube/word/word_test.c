/* Words of a watch in protobuf against the lines that the same API server wrote of the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"
#include "myriad/base/file.h"
#include "myriad/base/rng.h"
#include "word/put_test.h"
#include "word/word.h"

#define FOLDER MYR_SOURCE_DIR "/tests/data/kubernetes/"

enum { NOW_MS = 1800000, WORDS_MAX = 32 };

static struct myr_kube_cluster *make_cluster(void)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    policy.scheduler = "probe";
    return myr_kube_cluster_create(&policy);
}

/* --- what an API server has written */

static uint32_t split_words(struct myr_str bytes, struct myr_str ret[WORDS_MAX])
{
    uint32_t count = 0;
    while (bytes.len > 0) {
        const unsigned char *at = (const unsigned char *)bytes.data;
        assert_true(bytes.len >= 4 && count < WORDS_MAX);
        size_t size = (size_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
        assert_true(size <= bytes.len - 4);
        ret[count++] = (struct myr_str){bytes.data + 4, size};
        bytes = (struct myr_str){bytes.data + 4 + size, bytes.len - 4 - size};
    }
    return count;
}

static uint32_t split_lines(struct myr_str bytes, struct myr_str ret[WORDS_MAX])
{
    uint32_t count = 0;
    while (bytes.len > 0) {
        const char *end = memchr(bytes.data, '\n', bytes.len);
        assert_true(end && count < WORDS_MAX);
        size_t size = (size_t)(end - bytes.data);
        ret[count++] = (struct myr_str){bytes.data, size};
        bytes = (struct myr_str){end + 1, bytes.len - size - 1};
    }
    return count;
}

static struct kube_pod *only_pod(struct myr_kube_cluster *c)
{
    struct kube_pod *found = NULL;
    for (size_t i = 0; i < c->pods.count; i++) {
        assert_true(!found || !c->pods.items[i]);
        found = c->pods.items[i] ? c->pods.items[i] : found;
    }
    return found;
}

/* Both are said to a cluster of their own, which knows of nothing else. */
static void compare(struct myr_str word, struct myr_str line)
{
    struct myr_kube_cluster *one = make_cluster(), *other = make_cluster();
    struct myr_kube_said first, second;
    struct myr_err err = {};
    if (myr_kube_word(one, word, NOW_MS, &first, &err) != MYR_OK ||
        myr_kube_line(other, MYR_KUBE_PODS, line, NOW_MS, &second, &err) != MYR_OK) {
        fail_msg("%s: %.*s", err.message, (int)line.len, line.data);
    }
    assert_int_equal(first.change, second.change);
    assert_int_equal(first.code, second.code);
    assert_string_equal(first.version, second.version);
    assert_string_equal(first.text, second.text);
    struct kube_pod *a = only_pod(one), *b = only_pod(other);
    assert_int_equal(a != NULL, first.change <= MYR_KUBE_MODIFIED);
    if (!a != !b || (a && !are_same(b, a))) {
        fail_msg("differ: %.*s", (int)line.len, line.data);
    }
    myr_kube_cluster_free(one);
    myr_kube_cluster_free(other);
}

struct sample {
    struct myr_buf words, lines;
    struct myr_str word[WORDS_MAX], line[WORDS_MAX];
    uint32_t count;
};

static void read_sample(struct sample *s)
{
    *s = (struct sample){};
    assert_int_equal(myr_file_read(FOLDER "pods.words", 1 << 20, &s->words, NULL), MYR_OK);
    assert_int_equal(myr_file_read(FOLDER "pods.lines", 1 << 20, &s->lines, NULL), MYR_OK);
    s->count = split_words(text_of(&s->words), s->word);
    assert_int_equal(s->count, split_lines(text_of(&s->lines), s->line));
    assert_true(s->count >= 12);
}

static void free_sample(struct sample *s)
{
    myr_buf_done(&s->words);
    myr_buf_done(&s->lines);
}

static void words_say_what_the_lines_do(void **state)
{
    struct sample s;
    (void)state;
    read_sample(&s);
    for (uint32_t i = 0; i < s.count; i++) {
        compare(s.word[i], s.line[i]);
    }
    free_sample(&s);
}

static void pods_that_ask_the_same_are_read_once(void **state)
{
    struct myr_kube_cluster *c = make_cluster();
    struct myr_kube_said said;
    struct sample s;
    uint32_t uses = 0;
    (void)state;
    read_sample(&s);
    for (uint32_t i = 1; i < 4; i++) { /* two pods of one Job, before and behind their binding */
        assert_int_equal(myr_kube_word(c, s.word[i], NOW_MS, &said, NULL), MYR_OK);
    }
    for (uint32_t i = 0; i < KUBE_ALIKE; i++) {
        assert_true(!c->resources.alike[i] || uses == 0);
        uses = c->resources.alike[i] ? c->resources.alike[i]->uses : uses;
    }
    assert_int_equal(uses, 2);
    myr_kube_cluster_free(c);
    free_sample(&s);
}

/* A word that breaks off anywhere, and one with a byte that is another, changes nothing or all. */
static void broken_words_are_refused(void **state)
{
    struct sample s;
    struct myr_rng rng;
    uint32_t taken = 0, refused = 0;
    (void)state;
    read_sample(&s);
    myr_rng_init(&rng, 11, 3);
    for (uint32_t i = 0; i < s.count; i++) {
        struct myr_kube_cluster *c = make_cluster();
        struct myr_kube_said said;
        struct myr_err err;
        for (size_t length = 0; length < s.word[i].len; length++) {
            MYR_CLEANUP(myr_free_at)
            char *part = myr_xcalloc(1, length + 1); /* and not a byte more */
            memcpy(part, s.word[i].data, length);
            err = (struct myr_err){};
            assert_int_equal(myr_kube_word(c, (struct myr_str){part, length}, NOW_MS, &said, &err),
                             MYR_EINVAL);
            assert_true(err.message[0]);
        }
        assert_null(only_pod(c));
        for (uint32_t round = 0; round < 300; round++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf other = {};
            myr_buf_put(&other, s.word[i].data, s.word[i].len);
            other.data[myr_rng_below(&rng, (uint32_t)other.len)] = (char)myr_rng_below(&rng, 256);
            int rc = myr_kube_word(c, text_of(&other), NOW_MS, &said, NULL);
            taken += rc == MYR_OK;
            refused += rc == MYR_EINVAL;
        }
        myr_kube_cluster_free(c);
    }
    assert_int_equal(taken + refused, s.count * 300);
    assert_true(taken > 600 && refused > 300);
    free_sample(&s);
}

/* --- words of our own */

struct parts {
    struct myr_buf meta, spec, status, more; /* more: of the object, behind them */
    const char *type, *api, *kind, *coding;
    struct myr_str magic;
    uint32_t raws; /* how often the object is there */
};

static void begin_parts(struct parts *p)
{
    *p = (struct parts){
        .type = "ADDED", .api = "v1", .kind = "Pod", .coding = "", .magic = {"k8s", 4}, .raws = 1};
    put_words(&p->meta, 1, "g-0");
    put_words(&p->meta, 3, "default");
    put_words(&p->meta, 5, "u-1");
    put_words(&p->meta, 6, "77");
    put_words(&p->spec, 19, "probe");
    put_words(&p->status, 1, "Pending");
}

static void put_frame(struct parts *p, struct myr_buf *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf object = {}, unknown = {}, kind = {}, raw = {};
    put_in(&object, 1, &p->meta);
    put_in(&object, 2, &p->spec);
    put_in(&object, 3, &p->status);
    myr_buf_put(&object, p->more.len ? p->more.data : "", p->more.len);
    put_words(&kind, 1, p->api);
    put_words(&kind, 2, p->kind);
    put_in(&unknown, 1, &kind);
    put_in(&unknown, 2, &object);
    put_words(&unknown, 3, p->coding);
    myr_buf_put(&raw, p->magic.data, p->magic.len);
    myr_buf_put(&raw, unknown.data, unknown.len);
    myr_buf_clear(&object);
    for (uint32_t i = 0; i < p->raws; i++) {
        put_text(&object, 1, text_of(&raw));
    }
    myr_buf_clear(ret);
    put_words(ret, 1, p->type);
    put_in(ret, 2, &object);
    myr_buf_done(&p->meta);
    myr_buf_done(&p->spec);
    myr_buf_done(&p->status);
    myr_buf_done(&p->more);
}

static void put_line(const char *meta, const char *spec, struct myr_buf *ret)
{
    myr_buf_clear(ret);
    myr_buf_printf(ret,
                   "{'type':'ADDED','object':{'metadata':{'name':'g-0','namespace':'default','uid':"
                   "'u-1','resourceVersion':'77'%s},'spec':{'schedulerName':'probe'%s},'status':{"
                   "'phase':'Pending'}}}",
                   meta, spec);
    for (size_t i = 0; i < ret->len; i++) {
        ret->data[i] = (char)(ret->data[i] == '\'' ? '"' : ret->data[i]);
    }
}

/* Fields that came after 1.20: written by hand, with the numbers of their definition. */
static void add_gate(struct parts *p)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf gate = {};
    put_words(&gate, 1, "later");
    put_in(&p->spec, 38, &gate);
}

static void add_claim(struct parts *p)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf claim = {};
    put_words(&claim, 1, "card");
    put_in(&p->spec, 39, &claim);
}

static void add_whole(struct parts *p)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf whole = {};
    put_amount(&whole, 1, "cpu", "9");
    put_amount(&whole, 2, "cpu", "3");
    put_in(&p->spec, 40, &whole);
}

static void add_sidecar(struct parts *p)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf container = {}, asks = {};
    put_amount(&asks, 2, "cpu", "500m");
    put_in(&container, 8, &asks);
    put_words(&container, 24, "Always");
    put_in(&p->spec, 20, &container);
    put_amount(&asks, 2, "cpu", "2");
    put_in(&container, 8, &asks);
    put_in(&p->spec, 2, &container);
}

static void add_overhead(struct parts *p)
{
    put_amount(&p->spec, 32, "cpu", "250m");
    put_amount(&p->spec, 32, "memory", "1Gi");
}

static void add_priority(struct parts *p)
{
    put_value(&p->spec, 25, (uint64_t)(int64_t)-9);
    put_value(&p->spec, 11, 1);
    put_words(&p->spec, 10, "");
}

static void add_times(struct parts *p)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf time = {};
    put_value(&time, 1, 1794804504); /* 2026-11-16T04:48:24Z */
    put_value(&time, 2, 0);
    put_text(&p->meta, 8, text_of(&time));
    put_in(&p->meta, 9, &time);
    put_pair(&p->meta, 12, "myriad/gang", "g");
    put_pair(&p->meta, 12, "note", "\x01\xff not ours");
    put_pair(&p->meta, 11, "label", "caf\xc3\xa9");
}

/* A text that is empty is not written at all. */
static void add_empty_note(struct parts *p)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf pair = {};
    put_words(&pair, 1, "myriad/gang");
    put_in(&p->meta, 12, &pair);
}

static void other_fields_are_read_as_json_has_them(void **state)
{
    static const struct {
        void (*add)(struct parts *parts);
        const char *meta, *spec;
    } cases[] = {
        {add_gate, "", ",'schedulingGates':[{'name':'later'}]"},
        {add_claim, "", ",'resourceClaims':[{'name':'card'}]"},
        {add_whole, "", ",'resources':{'limits':{'cpu':'9'},'requests':{'cpu':'3'}}"},
        {add_sidecar, "",
         ",'initContainers':[{'resources':{'requests':{'cpu':'500m'}},'restartPolicy':'Always'}],"
         "'containers':[{'resources':{'requests':{'cpu':'2'}}}]"},
        {add_overhead, "", ",'overhead':{'cpu':'250m','memory':'1Gi'}"},
        {add_priority, "", ",'priority':-9,'hostNetwork':true"},
        {add_empty_note, ",'annotations':{'myriad/gang':''}", ""},
        {add_times,
         ",'creationTimestamp':'2026-11-16T04:48:24Z','deletionTimestamp':'2026-11-16T04:48:24Z',"
         "'annotations':{'myriad/gang':'g'}",
         ""},
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {}, line = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct parts parts;
        begin_parts(&parts);
        cases[i].add(&parts);
        put_frame(&parts, &word);
        put_line(cases[i].meta, cases[i].spec, &line);
        compare(text_of(&word), text_of(&line));
    }
}

/* Told apart by what its containers ask, though all else is the same. */
static void pods_that_ask_otherwise_are_read_apart(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {}, container = {}, asks = {};
    struct myr_kube_cluster *c = make_cluster();
    uint64_t before = 0;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct parts parts;
        struct myr_kube_said said;
        begin_parts(&parts);
        put_amount(&asks, 2, "cpu", i ? "3" : "2");
        put_in(&container, 8, &asks);
        put_in(&parts.spec, i == 2 ? 20 : 2, &container);
        put_frame(&parts, &word);
        assert_int_equal(myr_kube_word(c, text_of(&word), NOW_MS, &said, NULL), MYR_OK);
        assert_int_equal(only_pod(c)->needs->amounts.items[0].milli, i ? 3000 : 2000);
        assert_true(i == 2 || only_pod(c)->needs->digest != before);
        before = only_pod(c)->needs->digest;
    }
    myr_kube_cluster_free(c);
}

/* --- what is not as it should be */

static void second_name(struct parts *p)
{
    put_words(&p->meta, 1, "g-0");
}

static void second_spec(struct parts *p)
{
    put_words(&p->more, 2, "");
}

static void other_raw(struct parts *p)
{
    p->raws = 2;
}

static void no_text(struct parts *p)
{
    put_value(&p->spec, 10, 7);
}

static void odd_text(struct parts *p)
{
    put_words(&p->spec, 10, "caf\xc3\xa9");
}

static void odd_note(struct parts *p)
{
    put_pair(&p->meta, 12, "myriad/gang", "a\nb");
}

static void second_note(struct parts *p)
{
    put_pair(&p->meta, 12, "myriad/gang", "a");
    put_pair(&p->meta, 12, "myriad/gang", "a");
}

static void bad_name(struct parts *p)
{
    myr_buf_clear(&p->meta);
    put_words(&p->meta, 1, "../x");
    put_words(&p->meta, 3, "default");
    put_words(&p->meta, 5, "u-1");
}

static void no_uid(struct parts *p)
{
    myr_buf_clear(&p->meta);
    put_words(&p->meta, 1, "g-0");
    put_words(&p->meta, 3, "default");
}

static void second_amount(struct parts *p)
{
    put_amount(&p->spec, 32, "cpu", "1");
    put_amount(&p->spec, 32, "cpu", "2");
}

static void numbered_container(struct parts *p)
{
    put_value(&p->spec, 2, 1);
}

static void second_affinity(struct parts *p)
{
    put_words(&p->spec, 18, "");
    put_words(&p->spec, 18, "");
}

static void group(struct parts *p)
{
    put_number(&p->spec, 50 << 3 | 3);
}

static void field_zero(struct parts *p)
{
    put_value(&p->spec, 0, 1);
}

static void long_number(struct parts *p)
{
    put_number(&p->spec, 50 << 3);
    myr_buf_put(&p->spec, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
}

static void odd_words_are_left_to_json(void **state)
{
    static void (*const cases[])(struct parts * parts) = {
        other_raw,          second_name,   second_spec, no_text,     odd_text,
        odd_note,           second_note,   bad_name,    no_uid,      group,
        numbered_container, second_amount, field_zero,  long_number, second_affinity};
    static const struct {
        const char *type, *api, *kind, *coding, *magic;
    } heads[] = {
        {"CHANGED", "v1", "Pod", "", "k8s"}, {"ADDED", "v1", "Node", "", "k8s"},
        {"ADDED", "v2", "Pod", "", "k8s"},   {"ADDED", "v1", "Pod", "gzip", "k8s"},
        {"ADDED", "v1", "Pod", "", "k9s"},   {"ADDED", "v1", "Status", "", "k8s"},
        {"ERROR", "v1", "Pod", "", "k8s"},
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {};
    struct myr_kube_cluster *c = make_cluster();
    struct myr_kube_said said;
    struct parts parts;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        begin_parts(&parts);
        cases[i](&parts);
        put_frame(&parts, &word);
        if (myr_kube_word(c, text_of(&word), NOW_MS, &said, NULL) != MYR_EINVAL) {
            fail_msg("case %zu is taken", i);
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(heads); i++) {
        begin_parts(&parts);
        parts.type = heads[i].type;
        parts.api = heads[i].api;
        parts.kind = heads[i].kind;
        parts.coding = heads[i].coding;
        parts.magic.data = heads[i].magic;
        put_frame(&parts, &word);
        assert_int_equal(myr_kube_word(c, text_of(&word), NOW_MS, &said, NULL), MYR_EINVAL);
    }
    assert_null(only_pod(c));
    assert_int_equal(c->resources.ids.count, 0);
    begin_parts(&parts); /* as it is without them */
    put_frame(&parts, &word);
    assert_int_equal(myr_kube_word(c, text_of(&word), NOW_MS, &said, NULL), MYR_OK);
    assert_non_null(only_pod(c));
    assert_string_equal(said.version, "77");
    myr_kube_cluster_free(c);
}

/* Wherever a message lies in another; that nobody has read its like does not matter. */
static void a_part_that_is_cut_or_no_message_is_refused(void **state)
{
    static const uint32_t of_meta[] = {8, 12, 13}, of_spec[] = {2, 20};
    static const char *const broken[] = {"\x32\x7f", "\x0a\x7fx", "\x08", "\x0b"};
    const size_t metas = MYR_ARRAY_COUNT(of_meta), parts = metas + MYR_ARRAY_COUNT(of_spec);
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {}, needs = {};
    struct parts p;
    (void)state;
    for (size_t i = 0; i < parts * (MYR_ARRAY_COUNT(broken) + 2); i++) {
        size_t at = i % parts, how = i / parts;
        begin_parts(&p);
        struct myr_buf *to = at < metas ? &p.meta : &p.spec;
        uint32_t field = at < metas ? of_meta[at] : of_spec[at - metas];
        if (how > MYR_ARRAY_COUNT(broken)) {
            put_value(to, field, 1);
        } else { /* an empty one is one */
            put_words(to, field, how < MYR_ARRAY_COUNT(broken) ? broken[how] : "");
        }
        put_frame(&p, &word);
        struct kube_word read = {};
        bool well = how == MYR_ARRAY_COUNT(broken) || (how > MYR_ARRAY_COUNT(broken) && at < metas);
        if (kube_word_read(text_of(&word), &read, &needs) != well) {
            fail_msg("field %u, %zu: %s", field, how, well ? "refused" : "taken");
        }
    }
}

/* Each byte at each place of texts that are shorter and longer than a block of eight. */
static void a_text_is_plain_everywhere_or_not_taken(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf word = {}, needs = {};
    (void)state;
    for (size_t length = 1; length < 28; length++) {
        for (size_t at = 0; at < length; at++) {
            for (uint32_t byte = 0; byte < 256; byte += byte == 0x22 ? 0x5a : 1) {
                char text[32] = {};
                struct parts parts;
                struct kube_word ret;
                memset(text, '~', length);
                text[at] = (char)byte;
                begin_parts(&parts);
                put_text(&parts.spec, 16, (struct myr_str){text, length});
                put_frame(&parts, &word);
                assert_int_equal(kube_word_read(text_of(&word), &ret, &needs),
                                 byte >= 0x20 && byte < 0x7f);
            }
        }
    }
}

/* Against a model that takes one bit after the other. */
static void fields_come_as_they_were_put(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf message = {};
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 7, 9);
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t numbers[8], count = 1 + myr_rng_below(&rng, 8);
        uint64_t values[8];
        char text[300];
        memset(text, 'x', sizeof(text));
        myr_buf_clear(&message);
        for (uint32_t i = 0; i < count; i++) {
            numbers[i] = 1 + (uint32_t)(myr_rng_u64(&rng) >> (35 + myr_rng_below(&rng, 28)));
            numbers[i] = numbers[i] < 1U << 29 ? numbers[i] : 1;
            bool bytes = myr_rng_below(&rng, 2);
            values[i] = bytes ? myr_rng_below(&rng, sizeof(text))
                              : myr_rng_u64(&rng) >> myr_rng_below(&rng, 64);
            if (bytes) {
                put_text(&message, numbers[i], (struct myr_str){text, (size_t)values[i]});
            } else {
                put_value(&message, numbers[i], values[i]);
            }
        }
        struct kube_fields fields = kube_fields_of(text_of(&message));
        struct kube_field field;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(kube_fields_next(&fields, KUBE_ALL_FIELDS, &field));
            assert_int_equal(field.number, numbers[i]);
            assert_int_equal(field.wire == KUBE_WIRE_BYTES ? field.bytes.len : field.value,
                             values[i]);
        }
        assert_false(kube_fields_next(&fields, KUBE_ALL_FIELDS, &field));
        assert_false(fields.bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_say_what_the_lines_do),
        cmocka_unit_test(pods_that_ask_the_same_are_read_once),
        cmocka_unit_test(broken_words_are_refused),
        cmocka_unit_test(other_fields_are_read_as_json_has_them),
        cmocka_unit_test(pods_that_ask_otherwise_are_read_apart),
        cmocka_unit_test(odd_words_are_left_to_json),
        cmocka_unit_test(a_part_that_is_cut_or_no_message_is_refused),
        cmocka_unit_test(a_text_is_plain_everywhere_or_not_taken),
        cmocka_unit_test(fields_come_as_they_were_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
