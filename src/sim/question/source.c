#include "question/source.h"
#include "myriad/text/amount.h"

#include "question/words.h"
#include "read/text.h"

enum { PATH_MAX_LEN = 4095 }; /* Linux takes no longer path */

/* These return whether the value will do. */
static int take_endless(struct sim_source *source, struct myr_str value)
{
    return myr_sim_parse_bytes(value, &source->endless_bytes) && source->endless_bytes > 0 &&
           source->endless_bytes <= MYR_TRACE_BYTES_MAX;
}

static int take_ranks(struct sim_source *source, struct myr_str value)
{
    return myr_str_to_u64(value, &source->ranks) && source->ranks >= 2 &&
           source->ranks <= MYR_TRACE_RANKS_MAX;
}

static int take_tflops(struct sim_source *source, struct myr_str value)
{
    return myr_str_to_double(value, &source->tflops) && source->tflops > 0 && source->tflops <= 1e9;
}

static int take_deps(struct sim_source *source, struct myr_str value)
{
    source->callers = myr_str_eq(value, MYR_STR("both"));
    return source->callers || myr_str_eq(value, MYR_STR("data"));
}

static int take_format(struct sim_source *source, struct myr_str value)
{
    source->format = value;
    return 1;
}

/* ",key=value" at the text's end, as long as there are such: what is before them is left. */
static int take_keys(struct sim_source *source, const char *option, struct myr_str *text,
                     struct myr_err *err)
{
    static const struct {
        const char *key, *expected;
        int (*take)(struct sim_source *, struct myr_str);
    } keys[] = {
        {"format", NULL, take_format},
        {"endless", "a size such as 10MB", take_endless},
        {"ranks", "a whole number of ranks from 2", take_ranks},
        {"tflops", "a number above 0 such as 400", take_tflops},
        {"deps", "data or both", take_deps},
    };
    for (bool found = true; found;) {
        /*
         * From the end, because a path may hold commas: the first piece that is no key belongs to
         * it.
         */
        const char *comma = text->len ? memrchr(text->data, ',', text->len) : NULL;
        found = false;
        for (size_t i = 0; comma && !found && i < MYR_ARRAY_COUNT(keys); i++) {
            size_t len = strlen(keys[i].key), left = (size_t)(comma - text->data);
            if (text->len - left < len + 2 || memcmp(comma + 1, keys[i].key, len) != 0 ||
                comma[len + 1] != '=') {
                continue;
            }
            struct myr_str value = {comma + len + 2, text->len - left - len - 2};
            if (!keys[i].take(source, value)) {
                return myr_err_set(err, MYR_EINVAL, "%s: '%s' must be %s, not '%.*s'", option,
                                   keys[i].key, keys[i].expected, sim_words_shown(value),
                                   value.data);
            }
            text->len = left;
            found = true;
        }
    }
    return MYR_OK;
}

/* Without a colon the whole text is the path. */
int sim_source_open(struct sim_source *ret, struct myr_arena *arena,
                    const struct sim_source_want *want, const char *text, struct myr_err *err)
{
    const char *path = strchr(text, ':');
    struct myr_str words = myr_str_from(path ? path + 1 : text);
    MYR_TRY(take_keys(ret, want->option, &words, err));
    if (words.len == 0 || words.len > PATH_MAX_LEN) {
        return myr_err_set(err, MYR_EINVAL, "%s: file:PATH[,format=NAME][,KEY=VALUE] is expected",
                           want->option);
    }
    ret->path = myr_arena_strndup(arena, words.data, words.len);
    /* Whoever names a format is told by its reader what is wrong with the file. */
    uint64_t kinds = ret->format.len > 0 ? ~MYR_KIND_BIT(SECRET) : want->kinds;
    MYR_TRY(myr_kind_read(ret->path, MYR_TRACE_FILE_MAX, kinds, want->words, &ret->text, err));
    ret->path = myr_file_name(ret->path);
    return MYR_OK;
}

void sim_source_done(struct sim_source *source)
{
    myr_buf_done(&source->text);
}

/* What the words name must be known; the guess is not checked here. */
int sim_source_format(const struct sim_source *source, const char *option, const char *const *names,
                      uint32_t count, uint32_t guess, uint32_t *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    if (source->format.len == 0) {
        *ret = guess;
        return MYR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (myr_str_eq(source->format, myr_str_from(names[i]))) {
            *ret = i;
            return MYR_OK;
        }
        myr_buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    return myr_err_set(err, MYR_EINVAL, "%s: unknown format '%.*s'; known are %s", option,
                       sim_words_shown(source->format), source->format.data, list.data);
}

/* Messages without end get the size that the user gives them; there is no default. */
static int limit_endless(const struct sim_source *source, struct myr_trace *trace,
                         struct myr_err *err)
{
    if (trace->endless_line == 0) {
        return MYR_OK;
    }
    if (source->endless_bytes == 0) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s:%u:1: a message without end (size 0)",
                             source->path, trace->endless_line);
        myr_err_hint(err, "give such messages a size: file:PATH,endless=10MB");
        return rc;
    }
    myr_trace_limit(trace, source->endless_bytes);
    return MYR_OK;
}

/*
 * Which GPUs the trace's ranks are. HPCC's flows go between the nodes of its topology file, by
 * their numbers there; ranks of the other formats are the hosts, by the order of the numbers.
 */
static int choose_hosts(const struct sim_source *source, const struct myr_trace *trace,
                        enum myr_trace_format format, const struct myr_sim_hosts *hosts,
                        uint32_t gpu_count, const uint32_t **ret, struct myr_err *err)
{
    /* Only a fabric that was read from a file has numbers of its own. */
    bool numbered = hosts->gpu_of_node && format == MYR_TRACE_HPCC;
    uint32_t known = numbered ? hosts->node_count : gpu_count;
    *ret = numbered ? hosts->gpu_of_node : hosts->gpu_of_rank;
    if (trace->ranks > known) {
        return myr_err_set(err, MYR_EINVAL, "%s: the file has %s, the fabric has %s", source->path,
                           MYR_COUNT(trace->ranks, "rank"),
                           MYR_COUNT(known, numbered ? "node" : "GPU"));
    }
    for (size_t i = 0; numbered && i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        bool from = hosts->gpu_of_node[op->from] != MYR_NONE;
        if (!from || hosts->gpu_of_node[op->to] == MYR_NONE) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s:%u:1: node %u is a switch of the topology, a host is expected",
                               source->path, op->line, from ? op->to : op->from);
        }
    }
    return MYR_OK;
}

static const char any_workload[] = "a GOAL, HPCC, htsim, SimAI or Chakra file";

/* The format is settled before a byte is parsed, so that complaints are those of one reader. */
static int read_trace(const struct sim_source *source, enum myr_trace_format *ret_format,
                      struct myr_trace *ret, struct myr_err *err)
{
    struct myr_str content = {source->text.len ? source->text.data : "", source->text.len};
    uint32_t format;
    MYR_TRY(sim_source_format(source, "--workload", myr_trace_format_names, MYR_TRACE_FORMAT_COUNT,
                              myr_trace_guess(source->path, content), &format, err));
    *ret_format = (enum myr_trace_format)format;
    /* A key that has no effect would be believed to have one. */
    if (format != MYR_TRACE_CHAKRA && (source->ranks || source->callers || source->tflops > 0)) {
        return myr_err_set(err, MYR_EINVAL, "--workload: '%s' is for Chakra traces",
                           source->ranks     ? "ranks"
                           : source->callers ? "deps"
                                             : "tflops");
    }
    if (format == MYR_TRACE_CHAKRA) {
        return sim_source_chakra(source, content, ret, err);
    }
    if (source->format.len == 0) { /* a guess is nothing that can be expected of a file */
        MYR_TRY(myr_kind_check(source->path, content,
                               format == MYR_TRACE_FLOWS ? FLOW_KINDS : TRACE_KINDS, any_workload,
                               err));
    }
    MYR_TRY(myr_trace_read(source->path, content, *ret_format, ret, err));
    return limit_endless(source, ret, err);
}

/* Everything but the tasks is gone when this returns. */
int sim_source_load(struct myr_sim *sim, const struct myr_graph *graph,
                    const struct myr_sim_hosts *hosts, const char *words, struct myr_sim_load *ret,
                    struct myr_err *err)
{
    /* A design has no numbers of hosts but its own. */
    static const struct myr_sim_hosts none = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    MYR_CLEANUP(sim_source_done) struct sim_source source = {};
    MYR_CLEANUP(myr_trace_done) struct myr_trace trace = {};
    const struct myr_design_head *head = graph->design->head;
    struct myr_trace_tasks tasks = {};
    enum myr_trace_format format;
    const uint32_t *gpus;
    myr_arena_init(&scratch);
    struct sim_source_want want = {"--workload", WORKLOAD_KINDS, any_workload};
    /* Chakra's are binary, without a mark in front: by their name, or not at all. */
    size_t length = strlen(words);
    bool chakra = length > 3 && memcmp(words + length - 3, ".et", 3) == 0;
    want.kinds |= chakra || strstr(words, ".et,") ? MYR_KIND_BIT(BINARY) : 0;
    MYR_TRY(sim_source_open(&source, &scratch, &want, words, err));
    MYR_TRY(read_trace(&source, &format, &trace, err));
    MYR_TRY(choose_hosts(&source, &trace, format, hosts ? hosts : &none, head->gpus, &gpus, err));
    int rc = myr_load_trace(sim, &trace, gpus, head->gpus_per_node, &tasks, err);
    ret->first_flow = tasks.first_message;
    ret->flow_count = tasks.message_count;
    return rc;
}
