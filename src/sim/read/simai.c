#include "myriad/text/amount.h"
#include "read/text.h"

/*
 * SimAI's workload, as AICB writes it: a line about the job, the number of layers, then a line for
 * each layer: "name -1 ns type bytes ns type bytes ns type bytes ns", for the forward pass, for the
 * gradients of inputs and of weights, and the update at the end.
 *
 * The forward pass goes down the list, the backward pass up again. A layer's collectives hold up
 * what follows, except those of weight gradients: they run beside the rest, and the update waits
 * for them. All ranks do the same, so that the groups of a collective run in step.
 */

enum { LAYERS_MAX = 1000000 };

/*
 * Which ranks form a group: tensor, data or expert parallel ones, and data parallel among experts.
 */
enum split_kind { SPLIT_TP, SPLIT_DP, SPLIT_EP, SPLIT_DP_EP, SPLIT_COUNT };

struct job {
    uint32_t tp, ep, pp, vpp, ga, gpus, dp; /* dp follows from the others */
};

/* A part of a layer: computing, then a collective (or none, when bytes is 0). */
struct part {
    myr_ps compute;
    uint64_t bytes;
    uint8_t collective, split;
};

struct layer {
    struct part forward, input, weight;
    myr_ps update;
    uint32_t line;
};

struct simai {
    struct scan *scan;
    struct myr_trace *trace;
    struct job job;
    MYR_VEC(struct layer) layers;
    uint32_t last; /* operation that the next one waits for, or MYR_NONE */
};

/*
 * False in 'ret_more' at the end of the line. What has no effect is read and checked all the same.
 */
static int read_key(struct simai *simai, bool *ret_more, struct myr_err *err)
{
    struct scan *scan = simai->scan;
    struct job *job = &simai->job;
    const struct {
        const char *name;
        uint32_t *value;
        uint32_t least;
    } keys[] = {
        {"model_parallel_NPU_group:", &job->tp, 1},
        {"ep:", &job->ep, 1},
        {"pp:", &job->pp, 1},
        {"vpp:", &job->vpp, 1},
        {"ga:", &job->ga, 1},
        {"all_gpus:", &job->gpus, 2},
    };
    uint64_t ignored;
    *ret_more = scan_word(scan);
    if (!*ret_more) {
        return MYR_OK;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (scan_is(scan, keys[i].name)) {
            return scan_u32(scan, keys[i].name, keys[i].least, MYR_TRACE_RANKS_MAX, keys[i].value,
                            err);
        }
    }
    if (scan_is(scan, "checkpoint_initiates:") || scan_is(scan, "checkpoints:")) {
        return scan_number(scan, "the number of recomputed layers (none is supported)", 0, 0,
                           &ignored, err);
    }
    if (scan_is(scan, "pp_comm") || scan_is(scan, "pp_comm:")) {
        return scan_number(scan, "pp_comm", 0, MYR_TRACE_BYTES_MAX, &ignored, err);
    }
    char shown[SCAN_SHOWN];
    return scan_error(err, scan,
                      "'%s' is not understood; model_parallel_NPU_group:, ep:, pp:, vpp:, "
                      "ga:, all_gpus:, checkpoints:, checkpoint_initiates: or pp_comm is "
                      "expected",
                      scan_shown(scan, shown));
}

/* What the line does not say is 1, but for the two without which nothing is known. */
static int read_job(struct simai *simai, struct myr_err *err)
{
    struct scan *scan = simai->scan;
    struct job *job = &simai->job;
    char shown[SCAN_SHOWN];
    bool more = true;
    if (!scan_line(scan) || !scan_word(scan)) {
        return scan_error(err, scan, "the file is empty; a line about the job is expected");
    }
    struct scan_place place = scan_here(scan);
    if (!scan_is(scan, "HYBRID_TRANSFORMER") && !scan_is(scan, "HYBRID_TRANSFORMER_FWD_IN_BCKWD")) {
        return scan_error(err, scan,
                          "'%s' is not supported; HYBRID_TRANSFORMER or "
                          "HYBRID_TRANSFORMER_FWD_IN_BCKWD is expected",
                          scan_shown(scan, shown));
    }
    *job = (struct job){.ep = 1, .pp = 1, .vpp = 1, .ga = 1};
    int rc = MYR_OK;
    while (rc == MYR_OK && more) {
        rc = read_key(simai, &more, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (!job->tp || !job->gpus) {
        return scan_error_at(err, scan, place, "'%s' is missing",
                             !job->tp ? "model_parallel_NPU_group:" : "all_gpus:");
    }
    /* What is left of the GPUs is data parallel, with the experts inside it. */
    uint64_t inner = (uint64_t)job->tp * job->pp;
    if (job->gpus % inner || (job->gpus / inner) % job->ep) {
        return scan_error_at(err, scan, place,
                             "all_gpus (%u) must be tensor parallel (%u) x pipeline (%u) x a "
                             "multiple of expert parallel (%u)",
                             job->gpus, job->tp, job->pp, job->ep);
    }
    job->dp = (uint32_t)(job->gpus / inner);
    return MYR_OK;
}

/* "ALLGATHER_DP_EP": the collective, then the groups; without them those usual for the part. */
static int read_type(struct simai *simai, uint8_t usual, struct part *part, bool *ret_none,
                     struct myr_err *err)
{
    static const struct {
        const char *name;
        uint8_t collective;
    } types[] = {
        {"ALLREDUCE", MYR_ALL_REDUCE},
        {"ALLGATHER", MYR_ALL_GATHER},
        {"REDUCESCATTER", MYR_REDUCE_SCATTER},
        {"ALLTOALL", MYR_ALL_TO_ALL},
    };
    struct scan *scan = simai->scan;
    char shown[SCAN_SHOWN];
    MYR_TRY(scan_need(scan, "a collective or NONE", err));
    *ret_none = scan_is(scan, "NONE");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(types) && !*ret_none; i++) {
        size_t len = strlen(types[i].name);
        if (scan->word.len < len || memcmp(scan->word.data, types[i].name, len) != 0) {
            continue;
        }
        struct myr_str groups = {scan->word.data + len, scan->word.len - len};
        uint32_t split = groups.len == 0                         ? usual
                         : myr_str_eq(groups, MYR_STR("_EP"))    ? SPLIT_EP
                         : myr_str_eq(groups, MYR_STR("_DP_EP")) ? SPLIT_DP_EP
                                                                 : SPLIT_COUNT;
        if (split != SPLIT_COUNT) {
            part->collective = types[i].collective;
            part->split = (uint8_t)split;
            return MYR_OK;
        }
    }
    return *ret_none ? MYR_OK
                     : scan_error(err, scan,
                                  "'%s' is not supported; NONE, or ALLREDUCE, ALLGATHER, "
                                  "REDUCESCATTER or ALLTOALL, alone or with _EP or "
                                  "_DP_EP, is expected",
                                  scan_shown(scan, shown));
}

/* Bytes behind NONE mean nothing, whatever they are. */
static int read_part(struct simai *simai, uint8_t usual, struct part *ret, struct myr_err *err)
{
    bool none = true;
    MYR_TRY(scan_time(simai->scan, "a time in nanoseconds", 9, &ret->compute, err));
    MYR_TRY(read_type(simai, usual, ret, &none, err));
    int rc = scan_number(simai->scan, "the bytes", 0, MYR_TRACE_BYTES_MAX, &ret->bytes, err);
    ret->bytes = none ? 0 : ret->bytes;
    return rc;
}

/* The three parts in the order of the file; the groups that each usually has stand beside it. */
static int read_layer(struct simai *simai, struct myr_err *err)
{
    struct scan *scan = simai->scan;
    struct layer layer = {.line = scan->line};
    MYR_TRY(scan_need(scan, "the name of a layer", err));
    MYR_TRY(scan_need(scan, "-1", err));
    if (!scan_is(scan, "-1")) {
        return scan_error(err, scan,
                          "a layer that waits for another is not supported: -1 is expected");
    }
    MYR_TRY(read_part(simai, SPLIT_TP, &layer.forward, err));
    MYR_TRY(read_part(simai, SPLIT_TP, &layer.input, err));
    MYR_TRY(read_part(simai, SPLIT_DP, &layer.weight, err));
    MYR_TRY(scan_time(scan, "the time of the update in nanoseconds", 9, &layer.update, err));
    MYR_TRY(scan_end(scan, err));
    myr_vec_push(&simai->layers, layer);
    return MYR_OK;
}

/* As many lines as were promised, neither fewer nor more. */
static int read_layers(struct simai *simai, struct myr_err *err)
{
    struct scan *scan = simai->scan;
    uint32_t count = 0;
    if (!scan_line(scan)) {
        return scan_error(err, scan, "the file ends where the number of layers is expected");
    }
    int rc = scan_u32(scan, "the number of layers", 1, LAYERS_MAX, &count, err);
    if (rc < 0) {
        return rc;
    }
    rc = scan_end(scan, err);
    for (uint32_t i = 0; rc == MYR_OK && i < count; i++) {
        if (!scan_line(scan)) {
            return scan_error(err, scan, "the file ends after %u of %u layers", i, count);
        }
        rc = read_layer(simai, err);
    }
    if (rc == MYR_OK && scan_line(scan)) {
        scan_word(scan);
        rc = scan_error(err, scan, "%s promised, more are there", MYR_COUNT(count, "layer"));
    }
    return rc;
}

/* Without a start of its own: it waits for 'after', or for nothing. */
static int put(struct simai *simai, struct myr_trace_op op, uint32_t after, uint32_t *ret,
               struct myr_err *err)
{
    op.start = -1;
    int rc = trace_add(simai->trace, simai->scan, op, ret, err);
    if (rc == MYR_OK && after != MYR_NONE) {
        trace_after(simai->trace, *ret, after);
    }
    return rc;
}

/* Computing and then the collective, each when there is one; returns the last of them. */
static int put_part(struct simai *simai, const struct part *part, uint32_t line,
                    uint32_t *ret_compute, uint32_t *ret, struct myr_err *err)
{
    int rc = MYR_OK;
    *ret = *ret_compute = simai->last;
    if (part->compute > 0) {
        struct myr_trace_op op = {
            .kind = MYR_TRACE_COMPUTE, .line = line, .duration = part->compute};
        rc = put(simai, op, *ret, ret, err);
        *ret_compute = *ret;
    }
    /* A group of one has nobody to send to. */
    bool moves = part->bytes > 0 && simai->trace->splits.items[part->split].size > 1;
    if (rc == MYR_OK && moves) {
        struct myr_trace_op op = {.kind = MYR_TRACE_COLLECTIVE,
                                  .line = line,
                                  .collective = part->collective,
                                  .from = part->split,
                                  .bytes = part->bytes};
        rc = put(simai, op, *ret, ret, err);
    }
    return rc;
}

/*
 * Forward down the list, backward up again; the update of a layer waits for its own gradients only.
 */
static int put_layers(struct simai *simai, struct myr_err *err)
{
    const struct job *job = &simai->job;
    MYR_ASSERT(job->ep > 0);
    const struct myr_trace_split splits[SPLIT_COUNT] = {
        /*
         * Ranks count tensor parallel first, then data with the experts inside, then the pipeline.
         */
        [SPLIT_TP] = {.size = job->tp, .stride = 1},
        [SPLIT_DP] = {.size = job->dp, .stride = job->tp},
        [SPLIT_EP] = {.size = job->ep, .stride = job->tp},
        [SPLIT_DP_EP] = {.size = job->dp / job->ep, .stride = job->tp * job->ep},
    };
    uint32_t compute = MYR_NONE, update, end;
    for (uint32_t i = 0; i < SPLIT_COUNT; i++) {
        myr_vec_push(&simai->trace->splits, splits[i]);
    }
    simai->last = MYR_NONE;
    for (size_t i = 0; i < simai->layers.count; i++) {
        const struct layer *layer = &simai->layers.items[i];
        MYR_TRY(put_part(simai, &layer->forward, layer->line, &compute, &simai->last, err));
    }
    for (size_t i = simai->layers.count; i-- > 0;) {
        const struct layer *layer = &simai->layers.items[i];
        MYR_TRY(put_part(simai, &layer->input, layer->line, &compute, &simai->last, err));
        MYR_TRY(put_part(simai, &layer->weight, layer->line, &compute, &end, err));
        /* The next layer goes on when the gradients are computed, not when they are exchanged. */
        simai->last = compute;
        struct myr_trace_op op = {
            .kind = MYR_TRACE_COMPUTE, .line = layer->line, .duration = layer->update};
        MYR_TRY(layer->update ? put(simai, op, end, &update, err) : MYR_OK);
    }
    return MYR_OK;
}

static void simai_done(struct simai *simai)
{
    myr_vec_done(&simai->layers);
}

int read_simai(struct scan *scan, struct myr_trace *ret, struct myr_err *err)
{
    MYR_CLEANUP(simai_done) struct simai simai = {.scan = scan, .trace = ret};
    MYR_TRY(read_job(&simai, err));
    ret->ranks = simai.job.gpus;
    MYR_TRY(read_layers(&simai, err));
    return put_layers(&simai, err);
}
