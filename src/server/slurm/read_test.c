/* What Slurm's commands print: lines of real ones, and lines that none would print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/server/slurm.h"

struct gathered {
    uint32_t count;
    struct myr_slurm_node nodes[16];
    struct myr_slurm_job jobs[16];
    char names[4096];
};

static int take_node(void *context, const struct myr_slurm_node *node, struct myr_err *err)
{
    struct gathered *all = context;
    (void)err;
    all->nodes[all->count++ % 16] = *node;
    return MYR_OK;
}

static int take_job(void *context, const struct myr_slurm_job *job, struct myr_err *err)
{
    struct gathered *all = context;
    (void)err;
    all->jobs[all->count++ % 16] = *job;
    return MYR_OK;
}

static int take_name(void *context, struct myr_str name, struct myr_err *err)
{
    struct gathered *all = context;
    size_t len = strlen(all->names);
    (void)err;
    all->count++;
    snprintf(all->names + len, sizeof(all->names) - len, "%s%.*s", len ? " " : "", (int)name.len,
             name.data);
    return MYR_OK;
}

static struct myr_slurm_node one_node(const char *line)
{
    struct gathered all = {};
    struct myr_err err = {};
    assert_int_equal(myr_slurm_read_nodes("sinfo", myr_str_from(line), take_node, &all, &err), 0);
    assert_int_equal(all.count, 1);
    return all.nodes[0];
}

static void a_line_is_a_node(void **state)
{
    (void)state;
    struct myr_slurm_node node =
        one_node("n[001-002]|all*|192|2000000|gpu:h100:8(S:0-1)|drained|fan | loud\n");
    assert_true(myr_str_eq(node.names, MYR_STR("n[001-002]")));
    assert_true(myr_str_eq(node.partition, MYR_STR("all")) && node.in_default);
    assert_int_equal(node.cpus, 192);
    assert_int_equal(node.memory_mb, 2000000);
    assert_int_equal(node.gpus, 8);
    assert_true(myr_str_eq(node.reason, MYR_STR("fan | loud"))); /* bars of people do no harm */
    assert_int_equal(one_node("n|p|1|1|(null)|idle|none").gpus, 0);
    assert_int_equal(one_node("n|p|1|1|(null)|idle|none").reason.len, 0);
    assert_int_equal(one_node("n|p|1|1|gpu:a100:4(S:0,2),gpu:h100:2,shard:9|idle|x").gpus, 6);
    assert_int_equal(one_node("n|p|1|1|gpu|idle|x").gpus, 1);
    assert_int_equal(one_node("n|p|1|1|gpux:4|idle|x").gpus, 0);
}

/* sinfo counts CPUs in units of 1024 from there on; older ones where it is not exact, too. */
static void amounts_have_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t cpus;
    } rows[] = {{"1023", 1023},  {"1K", 1024},   {"2K+", 2048},
                {"1.50K", 1536}, {"1.9K", 1945}, {"0.5K", 512}};
    static const char *const bad[] = {"K", "1.K", ".5K", "1.5", "1.1234567K", "5000K", "-1K", "1k"};
    char line[120];
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        snprintf(line, sizeof(line), "n|p|%s|1|gpu:8|idle|none", rows[i].text);
        assert_int_equal(one_node(line).cpus, rows[i].cpus);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct gathered all = {};
        struct myr_err err = {};
        snprintf(line, sizeof(line), "n|p|%s|1|gpu:8|idle|none", bad[i]);
        assert_int_equal(myr_slurm_read_nodes("sinfo", myr_str_from(line), take_node, &all, &err),
                         MYR_EINVAL);
        assert_int_equal(all.count, 0);
    }
}

static void states_say_what_may_be_done(void **state)
{
    static const struct {
        const char *word;
        enum myr_slurm_node_is is;
    } rows[] = {
        {"idle", MYR_SLURM_NODE_UP},           {"allocated", MYR_SLURM_NODE_UP},
        {"mixed", MYR_SLURM_NODE_UP},          {"mixed-", MYR_SLURM_NODE_UP},
        {"completing", MYR_SLURM_NODE_UP},     {"idle~", MYR_SLURM_NODE_UP},
        {"idle#", MYR_SLURM_NODE_UP},          {"planned", MYR_SLURM_NODE_UP},
        {"idle*", MYR_SLURM_NODE_SILENT},      {"allocated*", MYR_SLURM_NODE_SILENT},
        {"down*", MYR_SLURM_NODE_SILENT},      {"down", MYR_SLURM_NODE_DOWN},
        {"down~", MYR_SLURM_NODE_DOWN},        {"drained", MYR_SLURM_NODE_HELD},
        {"draining", MYR_SLURM_NODE_HELD},     {"drained*", MYR_SLURM_NODE_SILENT},
        {"reserved", MYR_SLURM_NODE_RESERVED}, {"maint", MYR_SLURM_NODE_HELD},
        {"idle$", MYR_SLURM_NODE_HELD},        {"idle@", MYR_SLURM_NODE_HELD},
        {"inval", MYR_SLURM_NODE_HELD},        {"unknown*", MYR_SLURM_NODE_SILENT},
        {"unknown", MYR_SLURM_NODE_SILENT},    {"future", MYR_SLURM_NODE_ABSENT},
        {"sparkling", MYR_SLURM_NODE_SILENT},  {"", MYR_SLURM_NODE_SILENT},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char line[120];
        snprintf(line, sizeof(line), "n|p|1|1|gpu:8|%s|none", rows[i].word);
        if (one_node(line).is != rows[i].is) {
            fail_msg("'%s' is read as %d", rows[i].word, one_node(line).is);
        }
    }
}

static void a_line_is_a_job(void **state)
{
    (void)state;
    struct gathered all = {};
    struct myr_err err = {};
    const char *text = "12|RUNNING|ada|n[001-002]|None|myriad:abc:3.1\n"
                       "13_[0-4]|PENDING|bob||Resources|a | b\n"
                       "14|CANCELLED|bob|n003|None|(null)\n15|NODE_FAIL|x|n1|None|\n";
    assert_int_equal(myr_slurm_read_jobs("squeue", myr_str_from(text), take_job, &all, &err), 0);
    assert_int_equal(all.count, 4);
    assert_int_equal(all.jobs[0].is, MYR_SLURM_JOB_RUNS);
    assert_true(myr_str_eq(all.jobs[0].comment, MYR_STR("myriad:abc:3.1")));
    assert_int_equal(all.jobs[1].is, MYR_SLURM_JOB_WAITS);
    assert_true(myr_str_eq(all.jobs[1].comment, MYR_STR("a | b")));
    assert_int_equal(all.jobs[2].is, MYR_SLURM_JOB_CANCELLED);
    assert_int_equal(all.jobs[3].is, MYR_SLURM_JOB_LOST);
}

static void what_is_no_answer_is_refused(void **state)
{
    (void)state;
    struct gathered all = {};
    struct myr_err err = {};
    assert_true(
        myr_slurm_read_jobs("squeue", MYR_STR("slurm_load_jobs error"), take_job, &all, &err) < 0);
    assert_string_equal(err.message, "squeue:1:1: 'slurm_load_jobs error' has not the 6 fields "
                                     "that were asked for");
    assert_true(myr_slurm_read_nodes("sinfo", MYR_STR("n|p|1|1|g|idle|none\nn|p|many|1|g|i|r"),
                                     take_node, &all, &err) < 0);
    assert_true(strncmp(err.message, "sinfo:2:1: ", 11) == 0);
}

static void lists_of_nodes_are_names(void **state)
{
    static const struct {
        const char *list, *names;
    } rows[] = {
        {"n1", "n1"},
        {"n[08-10,3],x", "n08 n09 n10 n3 x"},
        {"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
        {"r[1-2]b", "r1b r2b"},
        {"", ""},
        {"(null)", ""},
    };
    static const char *const bad[] = {"n[",   "n]",  "n[]", "n[2-1]", "n[a]", "n[1-99999999999]",
                                      "a,,b", "n[1-"};
    struct myr_err err = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct gathered all = {};
        assert_int_equal(myr_slurm_read_names(myr_str_from(rows[i].list), take_name, &all, &err),
                         0);
        assert_string_equal(all.names, rows[i].names);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct gathered all = {};
        assert_true(myr_slurm_read_names(myr_str_from(bad[i]), take_name, &all, &err) < 0);
    }
}

static void numbers_and_faults_are_read(void **state)
{
    static const struct {
        const char *text;
        enum myr_slurm_fault fault;
    } rows[] = {
        {"slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
         MYR_SLURM_AWAY},
        {"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
         MYR_SLURM_AWAY},
        {"sinfo: error: Munge encode failed: Failed to access \"/x\": No such file or directory",
         MYR_SLURM_DENIED},
        {"slurm_load_partitions: Protocol authentication error", MYR_SLURM_DENIED},
        {"slurm_load_jobs error: Incompatible versions of client and server code",
         MYR_SLURM_VERSION},
        {"sbatch: error: Batch job submission failed: Invalid account or account/partition "
         "combination specified",
         MYR_SLURM_REFUSED},
        {"", MYR_SLURM_REFUSED},
    };
    uint64_t id = 0;
    (void)state;
    assert_true(myr_slurm_read_id(MYR_STR("1234\n"), &id) && id == 1234);
    assert_true(myr_slurm_read_id(MYR_STR("77;east"), &id) && id == 77);
    assert_false(myr_slurm_read_id(MYR_STR("Submitted batch job 7"), &id));
    assert_false(myr_slurm_read_id(MYR_STR("0"), &id));
    assert_false(myr_slurm_read_id(MYR_STR(""), &id));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char why[300];
        assert_int_equal(
            myr_slurm_read_fault("sbatch", myr_str_from(rows[i].text), why, sizeof(why)),
            rows[i].fault);
        assert_true(why[0] != '\0' && !strchr(why, '\n'));
    }
}

/* "node drained* silent 20.11 26.05": the next word of a line. */
static struct myr_str next_word(struct myr_str *line)
{
    const char *blank = memchr(line->data, ' ', line->len);
    size_t length = blank ? (size_t)(blank - line->data) : line->len;
    struct myr_str word = {line->data, length};
    length += blank != NULL;
    line->data += length;
    line->len -= length;
    return word;
}

static void check_word(struct myr_str kind, struct myr_str state, struct myr_str meaning)
{
    static const char *const of_node[] = {"up", "held", "reserved", "silent", "down", "absent"};
    static const char *const of_job[] = {"waits",  "starts", "runs",   "ends",     "done",
                                         "failed", "lost",   "pushed", "cancelled"};
    struct gathered all = {};
    struct myr_err err = {};
    char line[200];
    bool node = myr_str_eq(kind, MYR_STR("node"));
    snprintf(line, sizeof(line), node ? "n1|all*|8|1000|(null)|%.*s|none\n" : "7|%.*s|u|n1|None|\n",
             (int)state.len, state.data);
    int rc = node ? myr_slurm_read_nodes("sinfo", myr_str_from(line), take_node, &all, &err)
                  : myr_slurm_read_jobs("squeue", myr_str_from(line), take_job, &all, &err);
    const char *is = node ? of_node[all.nodes[0].is] : of_job[all.jobs[0].is];
    if (rc < 0 || !myr_str_eq(meaning, myr_str_from(is))) {
        fail_msg("%s is read as %s, not as %.*s", line, is, (int)meaning.len, meaning.data);
    }
}

static void words_of_every_version_are_understood(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    uint32_t words = 0;
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/slurm/states.txt", 1 << 20, &file, NULL), MYR_OK);
    struct myr_str text = {file.data, file.len};
    while (text.len > 0) {
        const char *newline = memchr(text.data, '\n', text.len);
        assert_non_null(newline);
        struct myr_str line = {text.data, (size_t)(newline - text.data)};
        text.data += line.len + 1;
        text.len -= line.len + 1;
        if (line.len > 0 && line.data[0] != '#') {
            struct myr_str kind = next_word(&line), word = next_word(&line);
            check_word(kind, word, next_word(&line));
            words++;
        }
    }
    assert_int_equal(words, 131);
}

static void partitions_without_nodes_and_mixed_sizes_are_read(void **state)
{
    (void)state;
    struct gathered all = {};
    struct myr_err err = {};
    static const char text[] = "|empty|0|0|(null)|n/a|none\n"
                               "n[1-2]|all*|96+|1000+|gpu:8|idle|none\n";
    assert_int_equal(myr_slurm_read_nodes("sinfo", myr_str_from(text), take_node, &all, &err), 0);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.nodes[0].cpus, 96);
    assert_true(
        myr_slurm_read_nodes("sinfo", MYR_STR("|x|0|0||idle|none\n"), take_node, &all, &err) < 0);
}

static int take_account(void *context, const struct myr_slurm_account *account, struct myr_err *err)
{
    struct myr_slurm_account *all = context;
    (void)err;
    all[account->user.len > 0] = *account;
    return MYR_OK;
}

static void accounts_have_shares_and_limits(void **state)
{
    (void)state;
    struct myr_slurm_account all[2] = {};
    struct myr_err err = {};
    /* As sacctmgr 22.05 prints them. */
    static const char text[] =
        "research||root|7|cpu=10,gres/gpu=16,gres/gpu:h100=8,mem=1000G,node=4|5||gres/gpu=2|100|\n"
        "research|nobody||parent|||3|||short\n";
    assert_int_equal(
        myr_slurm_read_accounts("sacctmgr", myr_str_from(text), take_account, all, &err), 0);
    assert_true(myr_str_eq(all[0].name, MYR_STR("research")) && all[0].share == 7);
    assert_true(myr_str_eq(all[0].parent, MYR_STR("root")) && !all[0].by_parent);
    assert_true(all[0].group.gpus == 8 && all[0].group.nodes == 4 && all[0].group_jobs == 5);
    assert_true(all[0].each.gpus == 2 && all[0].most_jobs == UINT64_MAX);
    assert_true(all[1].by_parent && all[1].most_jobs == 3 && all[1].group.gpus == UINT64_MAX);
    assert_true(all[0].qos.len == 0 && myr_str_eq(all[1].qos, MYR_STR("short")));
    static const char *const bad[] = {"research||root|7\n",   "|x||1||||||\n",
                                      "a||b|x||||||\n",       "a||b|1|gres/gpu||||||\n",
                                      "a||b|1|node=x|||||\n", "a||b|1|||||\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_true(
            myr_slurm_read_accounts("sacctmgr", myr_str_from(bad[i]), take_account, all, &err) < 0);
        assert_non_null(strstr(err.message, "sacctmgr:1:1: "));
    }
}

static int take_qos(void *context, const struct myr_slurm_qos *qos, struct myr_err *err)
{
    struct myr_slurm_qos *all = context;
    (void)err;
    all[myr_str_eq(qos->name, MYR_STR("short"))] = *qos;
    return MYR_OK;
}

static void qualities_have_limits(void **state)
{
    (void)state;
    struct myr_slurm_qos all[2] = {};
    struct myr_err err = {};
    static const char text[] = "normal|||||\n"
                               "short|gres/gpu=8|10|gres/gpu=4,node=2|cpu=64,gres/gpu=6|3\n";
    assert_int_equal(myr_slurm_read_qos("sacctmgr", myr_str_from(text), take_qos, all, &err), 0);
    assert_true(all[0].group.gpus == UINT64_MAX && all[0].user_jobs == UINT64_MAX);
    assert_true(all[1].group.gpus == 8 && all[1].group_jobs == 10 && all[1].each.gpus == 4);
    assert_true(all[1].each.nodes == 2 && all[1].of_user.gpus == 6 && all[1].user_jobs == 3);
    static const char *const bad[] = {"short\n", "|||||\n", "a||||||\n", "a|x||||\n", "a||x|||\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_true(myr_slurm_read_qos("sacctmgr", myr_str_from(bad[i]), take_qos, all, &err) < 0);
        assert_non_null(strstr(err.message, "sacctmgr:1:1: "));
    }
}

/* Each bound of a list, at it and behind it; what is refused is shown. */
static int count_name(void *context, struct myr_str name, struct myr_err *err)
{
    (void)name;
    (void)err;
    ++*(uint32_t *)context;
    return MYR_OK;
}

static int enough(void *context, struct myr_str name, struct myr_err *err)
{
    ++*(uint32_t *)context;
    return myr_err_set(err, MYR_ERANGE, "%.*s is enough", (int)name.len, name.data);
}

static void lists_at_their_bounds(void **state)
{
    (void)state;
    char long_name[300], long_tail[300], wide[80];
    memset(long_name, 'n', 255);
    long_name[255] = '\0';
    snprintf(long_tail, sizeof(long_tail), "%.253s[09-10]", long_name);
    snprintf(wide, sizeof(wide), "n[%018d-%018d]", 7, 8);
    const struct {
        const char *list;
        uint32_t count;
    } good[] = {{"a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]", 1},
                {"a[1-2]b[1-2]c[1-2]d[1-2]e[1-2]f[1-2]g[1-2]h[1-2]", 256},
                {long_name, 1},
                {long_tail, 2},
                {wide, 2},
                {"[7-8]", 2},
                {"a[5-5],b", 2}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        uint32_t count = 0;
        struct myr_err err = {};
        assert_int_equal(myr_slurm_read_names(myr_str_from(good[i].list), count_name, &count, &err),
                         MYR_OK);
        assert_int_equal(count, good[i].count);
    }
    char longer[320], longer_tail[300], longer_end[300], wider[80];
    snprintf(longer, sizeof(longer), "%sn", long_name);
    snprintf(longer_tail, sizeof(longer_tail), "%.254s[09-10]", long_name);
    snprintf(longer_end, sizeof(longer_end), "%.253s[09-10]x", long_name);
    snprintf(wider, sizeof(wider), "n[%019d]", 7);
    const char *const bad[] = {"a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]i[1]",
                               "a[1]b[]",
                               "a[1]b]",
                               "n[1,]",
                               "n[,1]",
                               "n[1-2-3]",
                               "n[1-]",
                               "n[-1]",
                               "n[0-1000000]",
                               longer,
                               longer_tail,
                               longer_end,
                               wider,
                               ",a",
                               "a,"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        uint32_t count = 0;
        struct myr_err err = {};
        assert_int_equal(myr_slurm_read_names(myr_str_from(bad[i]), count_name, &count, &err),
                         MYR_EINVAL);
        assert_non_null(strstr(err.message, "' is no list of nodes such as n[001-032,040]"));
    }
    /* Who has had enough ends it, and nothing is named behind. */
    uint32_t count = 0;
    struct myr_err err = {};
    assert_int_equal(myr_slurm_read_names(MYR_STR("n[1-9],x"), enough, &count, &err), MYR_ERANGE);
    assert_int_equal(count, 1);
    assert_string_equal(err.message, "n1 is enough");
}

static void gpus_without_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *gres;
        uint64_t gpus;
    } rows[] = {{"gpu", 1},
                {"gpu:h100", 1},
                {"gpu:h100:1024", 1024},
                {"gpu:1025", 0},
                {"gpus:4", 0},
                {"gp:4", 0},
                {"(null)", 0},
                {"", 0},
                {"license:4,gpu:2", 2},
                {"gpu:2,gpu", 3},
                {"gpu:3(S:0,1),gpu:1", 4},
                {"gpu:(null):2", 1}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char line[120];
        snprintf(line, sizeof(line), "n|p|1|1|%s|idle|none", rows[i].gres);
        assert_int_equal(one_node(line).gpus, rows[i].gpus);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_node),
        cmocka_unit_test(amounts_have_units),
        cmocka_unit_test(states_say_what_may_be_done),
        cmocka_unit_test(a_line_is_a_job),
        cmocka_unit_test(what_is_no_answer_is_refused),
        cmocka_unit_test(lists_of_nodes_are_names),
        cmocka_unit_test(lists_at_their_bounds),
        cmocka_unit_test(gpus_without_a_number),
        cmocka_unit_test(numbers_and_faults_are_read),
        cmocka_unit_test(words_of_every_version_are_understood),
        cmocka_unit_test(partitions_without_nodes_and_mixed_sizes_are_read),
        cmocka_unit_test(accounts_have_shares_and_limits),
        cmocka_unit_test(qualities_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
