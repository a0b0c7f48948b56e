/*
 * Words, numbers and lists of Slurm's, each held against what it means: every fault with its whole
 * line, every short form of a state, amounts and lists of nodes that are drawn, all limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/server/slurm.h"

/* --- faults */

static void every_fault_has_its_words(void **state)
{
    static const char versions[] = "its controller speaks another version";
    static const char silent[] = "its controller does not answer";
    static const char keys[] =
        "its controller does not take our credential: do munge keys and clocks agree?";
    static const struct {
        const char *says;
        enum myr_slurm_fault fault;
        const char *words;
    } rows[] = {
        {"Incompatible versions of it", MYR_SLURM_VERSION, versions},
        {"x: Protocol version has changed, re-link", MYR_SLURM_VERSION, versions},
        {"unsupported version 9", MYR_SLURM_VERSION, versions},
        {"Munge encode failed", MYR_SLURM_DENIED, "munge gives no credential"},
        {"the munge daemon is away", MYR_SLURM_DENIED, "munge gives no credential"},
        {"Protocol authentication error", MYR_SLURM_DENIED, keys},
        {"Invalid authentication credential", MYR_SLURM_DENIED, keys},
        {"no authentication plugin", MYR_SLURM_DENIED,
         "its controller does not take our credential"},
        {"Unable to contact slurm controller (connect failure)", MYR_SLURM_AWAY, silent},
        {"Unable to establish configuration source", MYR_SLURM_AWAY,
         "there is no configuration of it"},
        {"Socket timed out", MYR_SLURM_AWAY, "its controller does not answer in time"},
        {"Connection refused", MYR_SLURM_AWAY, silent},
        {"Zero Bytes were transmitted or received", MYR_SLURM_AWAY,
         "its controller hangs up: do munge keys and clocks agree?"},
        {"Unexpected message received", MYR_SLURM_AWAY, "its controller ends the connection"},
        {"Slurm temporarily unable to accept job", MYR_SLURM_AWAY,
         "its controller is not ready yet"},
        {"the controller is in standby mode", MYR_SLURM_AWAY, "its controller is a standby"},
        {"this is a Slurm backup controller", MYR_SLURM_AWAY, "its controller is a standby"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char why[300], expected[300], text[200];
        /* Said on the last line, or before it: what it means is the same. */
        snprintf(text, sizeof(text), "%s\n", rows[i].says);
        snprintf(expected, sizeof(expected), "%s (%s)", rows[i].words, rows[i].says);
        assert_int_equal(myr_slurm_read_fault("squeue", myr_str_from(text), why, sizeof(why)),
                         rows[i].fault);
        assert_string_equal(why, expected);
        snprintf(text, sizeof(text), "error: %s\n\nin the end\n\n", rows[i].says);
        snprintf(expected, sizeof(expected), "%s (in the end)", rows[i].words);
        assert_int_equal(myr_slurm_read_fault("squeue", myr_str_from(text), why, sizeof(why)),
                         rows[i].fault);
        assert_string_equal(why, expected);
    }
}

static void refuses(const char *text, const char *expected)
{
    char why[300];
    assert_int_equal(myr_slurm_read_fault("sbatch", myr_str_from(text), why, sizeof(why)),
                     MYR_SLURM_REFUSED);
    assert_string_equal(why, expected);
}

/* What nobody knows is Slurm's own last line, of plain letters, and not endless. */
static void other_faults_are_told_as_they_are(void **state)
{
    char line[200], small[8];
    (void)state;
    refuses("", "sbatch failed without a word");
    refuses("\n\n", "sbatch failed without a word");
    refuses("one\ntwo", "two");
    refuses("one\ntwo\n\n", "two");
    refuses("a\x1f"
            "b c~\x7f\xc3\xa4\t",
            "a?b c~????");
    for (size_t len = 159; len <= 161; len++) {
        memset(line, 'x', len);
        line[len] = '\0';
        char expected[200];
        snprintf(expected, sizeof(expected), "%.160s", line);
        refuses(line, expected);
    }
    (void)myr_slurm_read_fault("sbatch", MYR_STR("cut where the room ends"), small, sizeof(small));
    assert_string_equal(small, "cut whe");
}

static void a_number_of_a_job_stands_alone(void **state)
{
    static const struct {
        const char *text;
        uint64_t id;
    } rows[] = {{"1", 1},
                {"9", 9},
                {"10\n", 10},
                {"1234;east", 1234},
                {"90;", 90},
                {"7\n8", 7},
                {"18446744073709551615", UINT64_MAX},
                {"18446744073709551616", 0},
                {"0", 0},
                {"0;east", 0},
                {"", 0},
                {"\n", 0},
                {";", 0},
                {"12_3", 0},
                {"12 ", 0},
                {"12:", 0}, /* beside the digits on either side */
                {"12/", 0},
                {" 12", 0},
                {"-1", 0}};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint64_t id = 0;
        bool is = myr_slurm_read_id(myr_str_from(rows[i].text), &id);
        if (is != (rows[i].id > 0) || (is && id != rows[i].id)) {
            fail_msg("'%s' is read as %d, %llu", rows[i].text, is, (unsigned long long)id);
        }
    }
}

/* --- nodes and jobs */

static int keep_node(void *context, const struct myr_slurm_node *node, struct myr_err *err)
{
    (void)err;
    *(struct myr_slurm_node *)context = *node;
    return MYR_OK;
}

static int keep_job(void *context, const struct myr_slurm_job *job, struct myr_err *err)
{
    (void)err;
    *(struct myr_slurm_job *)context = *job;
    return MYR_OK;
}

/* Short forms of sinfo, several marks behind one word, and capitals. */
static void short_words_mean_the_same(void **state)
{
    static const struct {
        const char *word;
        enum myr_slurm_node_is is;
    } rows[] = {
        {"alloc", MYR_SLURM_NODE_UP},         {"mix", MYR_SLURM_NODE_UP},
        {"comp", MYR_SLURM_NODE_UP},          {"plnd", MYR_SLURM_NODE_UP},
        {"pow_up", MYR_SLURM_NODE_UP},        {"IDLE", MYR_SLURM_NODE_UP},
        {"idle~*", MYR_SLURM_NODE_UP},        {"idle*~", MYR_SLURM_NODE_UP},
        {"idle#-", MYR_SLURM_NODE_UP},        {"idle+", MYR_SLURM_NODE_UP},
        {"drain", MYR_SLURM_NODE_HELD},       {"drng", MYR_SLURM_NODE_HELD},
        {"failg", MYR_SLURM_NODE_HELD},       {"reboot_requested", MYR_SLURM_NODE_HELD},
        {"npc", MYR_SLURM_NODE_HELD},         {"pow_dn", MYR_SLURM_NODE_HELD},
        {"idle$#", MYR_SLURM_NODE_HELD},      {"idle-@", MYR_SLURM_NODE_HELD},
        {"Mixed%", MYR_SLURM_NODE_HELD},      {"drained~*", MYR_SLURM_NODE_HELD},
        {"resv", MYR_SLURM_NODE_RESERVED},    {"reserved$", MYR_SLURM_NODE_RESERVED},
        {"reserved*", MYR_SLURM_NODE_SILENT}, {"idle*-", MYR_SLURM_NODE_SILENT},
        {"idle*$", MYR_SLURM_NODE_SILENT},    {"*", MYR_SLURM_NODE_SILENT},
        {"~", MYR_SLURM_NODE_SILENT},         {"idl", MYR_SLURM_NODE_SILENT},
        {"idles", MYR_SLURM_NODE_SILENT},     {"error", MYR_SLURM_NODE_DOWN},
        {"down*~", MYR_SLURM_NODE_DOWN},      {"futr", MYR_SLURM_NODE_ABSENT},
        {"futr*", MYR_SLURM_NODE_ABSENT},     {"$", MYR_SLURM_NODE_HELD},
    };
    static const struct {
        const char *word;
        enum myr_slurm_job_is is;
    } jobs[] = {{"LAUNCH_FAILED", MYR_SLURM_JOB_LOST},
                {"RECONFIG_FAIL", MYR_SLURM_JOB_LOST},
                {"running", MYR_SLURM_JOB_RUNS},
                {"RUN", MYR_SLURM_JOB_ENDS},
                {"", MYR_SLURM_JOB_ENDS}};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char line[80];
        struct myr_slurm_node node = {};
        snprintf(line, sizeof(line), "n|p|1|1|gpu:8|%s|none", rows[i].word);
        assert_int_equal(myr_slurm_read_nodes("s", myr_str_from(line), keep_node, &node, NULL), 0);
        if (node.is != rows[i].is) {
            fail_msg("'%s' is read as %d", rows[i].word, node.is);
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(jobs); i++) {
        char line[80];
        struct myr_slurm_job job = {};
        snprintf(line, sizeof(line), "7|%s|u|n|None|c", jobs[i].word);
        assert_int_equal(myr_slurm_read_jobs("s", myr_str_from(line), keep_job, &job, NULL), 0);
        assert_int_equal(job.is, jobs[i].is);
    }
}

static int spell_node(void *context, const struct myr_slurm_node *n, struct myr_err *err)
{
    if (myr_str_eq(n->names, MYR_STR("stop"))) {
        return myr_err_set(err, MYR_ESTALE, "stopped");
    }
    myr_buf_printf(context, "%.*s in '%.*s'%s %llu %llu %llu %.*s '%.*s'\n", (int)n->names.len,
                   n->names.data, (int)n->partition.len, n->partition.data,
                   n->in_default ? " by default" : "", (unsigned long long)n->cpus,
                   (unsigned long long)n->memory_mb, (unsigned long long)n->gpus, (int)n->state.len,
                   n->state.data, (int)n->reason.len, n->reason.data);
    return MYR_OK;
}

static int spell_job(void *context, const struct myr_slurm_job *j, struct myr_err *err)
{
    if (myr_str_eq(j->id, MYR_STR("stop"))) {
        return myr_err_set(err, MYR_ESTALE, "stopped");
    }
    const struct myr_str fields[] = {j->id, j->state, j->user, j->nodes, j->reason, j->comment};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fields); i++) {
        myr_buf_printf(context, "<%.*s>", (int)fields[i].len, fields[i].data);
    }
    myr_buf_puts(context, "\n");
    return MYR_OK;
}

/* 'told' is what came before the line that 'message' is about, or all of it where there is none. */
struct listing {
    const char *text, *told, *message;
};

static void check_listing(const struct listing *row, bool nodes)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_err err = {};
    struct myr_str text = myr_str_from(row->text);
    int rc = nodes ? myr_slurm_read_nodes("sinfo", text, spell_node, &told, &err)
                   : myr_slurm_read_jobs("squeue", text, spell_job, &told, &err);
    assert_string_equal(told.len ? told.data : "", row->told);
    assert_string_equal(err.message, row->message);
    assert_int_equal(rc == MYR_OK, row->message[0] == '\0');
}

static void each_line_counts(void **state)
{
    static const struct listing nodes[] = {
        {"", "", ""},
        {"a|p|2|3|gpu:4|idle|None\nb|q*|5|6||mix|none\n",
         "a in 'p' 2 3 4 idle ''\nb in 'q' by default 5 6 0 mix ''\n", ""},
        {"a|*|1|1||idle|nones", "a in '' by default 1 1 0 idle 'nones'\n", ""},
        {"a||1K|1.5M||idle|", "a in '' 1024 1572864 0 idle ''\n", ""},
        {"|p|0|0||n/a|none\n|p|0|0||idle|none\n", "",
         "sinfo:2:1: '|p|0|0||idle|none' has not the 7 fields that were asked for"},
        {"a|p|1|1||n/a|x\n\n", "a in 'p' 1 1 0 n/a 'x'\n",
         "sinfo:2:1: '' has not the 7 fields that were asked for"},
        {"a|p|1|1||idle", "",
         "sinfo:1:1: 'a|p|1|1||idle' has not the 7 fields that were asked for"},
        {"a|p|1|x||idle|r", "",
         "sinfo:1:1: 'a|p|1|x||idle|r' has not the 7 fields that were asked for"},
        {"a|p||1||idle|r", "",
         "sinfo:1:1: 'a|p||1||idle|r' has not the 7 fields that were asked for"},
        {"a|p|1|1||idle|\nstop|p|1|1||idle|\nb|p|1|1||idle|\n", "a in 'p' 1 1 0 idle ''\n",
         "stopped"},
    };
    static const struct listing jobs[] = {
        {"", "", ""},
        {"1|R|u|n[1-2]|None|a|b\n2|||||\n", "<1><R><u><n[1-2]><None><a|b>\n<2><><><><><>\n", ""},
        {"1|R|u|n|None", "", "squeue:1:1: '1|R|u|n|None' has not the 6 fields that were asked for"},
        {"1|||||\n||||| \n", "<1><><><><><>\n",
         "squeue:2:1: '||||| ' has not the 6 fields that were asked for"},
        {"1|||||\nstop|||||\n2|||||\n", "<1><><><><><>\n", "stopped"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(nodes); i++) {
        check_listing(&nodes[i], true);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(jobs); i++) {
        check_listing(&jobs[i], false);
    }
}

/* --- amounts */

static bool reads_memory(const char *text, uint64_t *ret)
{
    char line[80];
    struct myr_slurm_node node = {};
    snprintf(line, sizeof(line), "n|p|1|%s|gpu:8|idle|none", text);
    int rc = myr_slurm_read_nodes("s", myr_str_from(line), keep_node, &node, NULL);
    *ret = node.memory_mb;
    return rc == MYR_OK;
}

/* The part behind the point is cut, not rounded, in the largest unit as well. */
static void amounts_are_those_of_long_numbers(void **state)
{
    static const char units[] = "KMGTP";
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 24, 1);
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t unit = (uint32_t)myr_rng_below(&rng, 5), digits = 0;
        uint64_t whole = myr_rng_below(&rng, 1026), part = 0, scale = 1, got = 0;
        char text[40], tail[16] = "";
        for (digits = (uint32_t)myr_rng_below(&rng, 8); scale < 10000000 && digits; digits--) {
            scale *= 10;
        }
        if (scale > 1) {
            part = myr_rng_below(&rng, (uint32_t)scale);
            for (uint64_t s = scale / 10, at = 1; s > 0; s /= 10, at++) {
                tail[0] = '.';
                tail[at] = (char)('0' + part / s % 10);
            }
        }
        snprintf(text, sizeof(text), "%llu%s%c%s", (unsigned long long)whole, tail, units[unit],
                 myr_rng_below(&rng, 2) ? "+" : "");
        unsigned __int128 factor = (unsigned __int128)1 << (10 * (unit + 1));
        uint64_t expected = (uint64_t)(whole * factor + part * factor / scale);
        bool fits = whole <= 1023 && scale <= 1000000;
        if (reads_memory(text, &got) != fits || (fits && got != expected)) {
            fail_msg("%s is read as %llu, not as %llu", text, (unsigned long long)got,
                     (unsigned long long)expected);
        }
    }
    static const char *const bad[] = {"",    "+",  "1++", "1+K", "K+",  "1KK",  "1E",
                                      "1.K", ".K", "1.",  "1 K", "-1M", "1.-1K"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        uint64_t got;
        assert_false(reads_memory(bad[i], &got));
    }
}

static void generic_resources_that_are_gpus(void **state)
{
    static const struct {
        const char *gres;
        uint64_t gpus;
    } rows[] = {{"gp", 0},
                {"gpu:", 1},
                {"gpu:0", 0},
                {"gpu:1024,gpu:1024", 2048},
                {"gpu:4,", 4},
                {",gpu:4", 4},
                {"mps:100,gpu:2,nic:3", 2},
                {"gpu:2(S:0", 2},
                {"gpu:2(S:0,gpu:3", 5}, /* brackets that do not close end with the comma */
                {"nic:1(S:0,1),gpu:3(S:0-1)", 3},
                {"gpu:a:b:6", 6},
                {"(gpu:2)", 0}};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char line[120];
        struct myr_slurm_node node = {};
        snprintf(line, sizeof(line), "n|p|1|1|%s|idle|none", rows[i].gres);
        assert_int_equal(myr_slurm_read_nodes("s", myr_str_from(line), keep_node, &node, NULL), 0);
        if (node.gpus != rows[i].gpus) {
            fail_msg("%s has %llu", rows[i].gres, (unsigned long long)node.gpus);
        }
    }
}

/* --- lists of nodes */

static int put_name(void *context, struct myr_str name, struct myr_err *err)
{
    (void)err;
    myr_buf_printf(context, "%.*s ", (int)name.len, name.data);
    return MYR_OK;
}

/* A bracket of one or two ranges, and all that may stand there, of one width each. */
struct drawn {
    char text[64];
    char values[16][8];
    uint32_t count;
};

static struct drawn draw_bracket(struct myr_rng *rng)
{
    struct drawn ret = {.text = "["};
    uint32_t ranges = (uint32_t)myr_rng_below(rng, 2) + 1;
    for (uint32_t r = 0; r < ranges; r++) {
        int width = (int)myr_rng_below(rng, 3) + 1;
        uint32_t first = (uint32_t)myr_rng_below(rng, 9), more = (uint32_t)myr_rng_below(rng, 4);
        size_t len = strlen(ret.text);
        if (more) {
            snprintf(ret.text + len, sizeof(ret.text) - len, "%s%0*u-%u", r ? "," : "", width,
                     first, first + more);
        } else {
            snprintf(ret.text + len, sizeof(ret.text) - len, "%s%0*u", r ? "," : "", width, first);
        }
        for (uint32_t v = first; v <= first + more; v++) {
            snprintf(ret.values[ret.count++], 8, "%0*u", width, v);
        }
    }
    snprintf(ret.text + strlen(ret.text), 2, "]");
    return ret;
}

/* Names with none, one or two brackets, between them words that may be empty. */
static void lists_are_all_their_names(void **state)
{
    static const char *const words[] = {"", "n", "rack-", "x.y"};
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 25, 1);
    for (uint32_t round = 0; round < 300; round++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf list = {}, expected = {}, got = {};
        struct myr_err err = {};
        for (uint32_t i = 0, names = (uint32_t)myr_rng_below(&rng, 3) + 1; i < names; i++) {
            uint32_t brackets = (uint32_t)myr_rng_below(&rng, 3);
            struct drawn none = {.count = 1};
            struct drawn a = brackets > 0 ? draw_bracket(&rng) : none;
            struct drawn b = brackets > 1 ? draw_bracket(&rng) : none;
            const char *head = words[brackets ? myr_rng_below(&rng, 4) : 1];
            const char *middle = words[myr_rng_below(&rng, 4)];
            const char *tail = words[myr_rng_below(&rng, 4)];
            myr_buf_printf(&list, "%s%s%s%s%s%s", i ? "," : "", head, a.text, middle, b.text, tail);
            for (uint32_t k = 0; k < a.count * b.count; k++) {
                myr_buf_printf(&expected, "%s%s%s%s%s ", head, a.values[k / b.count], middle,
                               b.values[k % b.count], tail);
            }
        }
        struct myr_str text = {list.data, list.len};
        assert_int_equal(myr_slurm_read_names(text, put_name, &got, &err), MYR_OK);
        assert_string_equal(got.data, expected.data);
    }
}

static int first_is_enough(void *context, struct myr_str name, struct myr_err *err)
{
    (void)context;
    return myr_err_set(err, MYR_ESTALE, "%.*s", (int)name.len, name.data);
}

/* A range that could name a million is begun; one that could name one more is not. */
static void ranges_have_their_largest(void **state)
{
    static const struct {
        const char *list, *says;
    } rows[] = {
        {"n[0-999999]", "n0"},
        {"n[5-1000004]", "n5"},
        {"n[007-1000006]", "n007"},
        {"n[999999999999999999]", "n999999999999999999"},
        {"n[0-1000000]", "'n[0-1000000]' is no list of nodes such as n[001-032,040]"},
        {"n[5-1000005]", "'n[5-1000005]' is no list of nodes such as n[001-032,040]"},
        {"n[6-5]", "'n[6-5]' is no list of nodes such as n[001-032,040]"},
        {"n[1]]", "'n[1]]' is no list of nodes such as n[001-032,040]"},
        {"n[[1]", "'n[[1]' is no list of nodes such as n[001-032,040]"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_err err = {};
        int rc = myr_slurm_read_names(myr_str_from(rows[i].list), first_is_enough, NULL, &err);
        assert_int_equal(rc, rows[i].says[0] == '\'' ? MYR_EINVAL : MYR_ESTALE);
        assert_string_equal(err.message, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_has_its_words),
        cmocka_unit_test(other_faults_are_told_as_they_are),
        cmocka_unit_test(a_number_of_a_job_stands_alone),
        cmocka_unit_test(short_words_mean_the_same),
        cmocka_unit_test(each_line_counts),
        cmocka_unit_test(amounts_are_those_of_long_numbers),
        cmocka_unit_test(generic_resources_that_are_gpus),
        cmocka_unit_test(lists_are_all_their_names),
        cmocka_unit_test(ranges_have_their_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
