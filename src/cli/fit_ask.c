/* fit_ask: from what the user typed to a question that the search can answer. */
#include <stdlib.h>
#include <sys/stat.h>

#include "fit.h"

const char *const cli_fit_recomputes[4] = {"any", "none", "selective", "full"};
const char *const cli_fit_schedules[6] = {"stack",       "1f1b",     "interleaved",
                                          "zero-bubble", "dualpipe", "any"};
const char *const cli_fit_precisions[7] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "any"};

static int need(bool given, const char *option, struct myr_err *err)
{
    if (given) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "give %s", option);
    myr_err_hint(err, "myriad fit --model gpt3-175b --gpus 1024 --device h100 --batch 1536");
    return rc;
}

/* The profile of a catalogue's GPU: "h100-sxm" is "h100", "ascend-910b-npu" is "ascend-910b". */
static int design_device(struct cli_fit_asked *a, const char *part, struct myr_err *err)
{
    struct myr_str name = myr_str_from(part);
    const char *dash = strrchr(part, '-');
    struct myr_err unused = {0};
    int rc = myr_profiles_device(&a->profiles, name, &a->query.it.device, &unused);
    if (rc < 0 && dash) {
        name.len = (size_t)(dash - part);
        rc = myr_profiles_device(&a->profiles, name, &a->query.it.device, err);
    }
    if (rc < 0) {
        rc = myr_err_set(err, MYR_EINVAL, "the design has GPUs '%s', of which no profile is known",
                         part);
        myr_err_hint(err, "name the nearest one with --device");
    }
    return rc;
}

static int open_design(struct cli_fit_asked *a, const struct cli_fit_question *u,
                       struct myr_err *err)
{
    struct stat found;
    struct myr_contention table;
    int rc = myr_design_open(&a->design, u->design, err);
    if (rc < 0) {
        return rc;
    }
    a->has_design = true;
    const struct myr_design_head *head = a->design.head;
    a->query.gpus = (uint32_t)(u->gpus ? u->gpus : head->gpus);
    if (a->query.gpus > head->gpus) {
        rc = myr_err_set(err, MYR_EINVAL, "the design has %u GPUs, %u are asked for", head->gpus,
                         a->query.gpus);
        myr_err_hint(err, "--gpus %u, or leave it away", head->gpus);
        return rc;
    }
    rc = u->device ? MYR_OK : design_device(a, a->design.strings + head->gpu_part, err);
    const char *path = myr_contention_path(&a->arena, u->design);
    bool has_table = rc == MYR_OK && stat(path, &found) == 0;
    rc = rc < 0 || !has_table ? rc : myr_contention_read(path, &table, err);
    rc = rc < 0 ? rc
                : myr_fit_topology_init(&a->topology, &a->arena, &a->design,
                                        has_table ? &table : NULL, a->query.gpus, err);
    a->query.it.topology = &a->topology;
    a->query.it.nic_gbps = a->topology.nic_gbps;
    a->query.it.domain_gpus = a->topology.domain_gpus;
    return rc;
}

void cli_fit_fix_axes(struct myr_fit_query *q, const struct cli_fit_question *u)
{
    q->any_precision = u->precision > MYR_PRECISION_FP32;
    q->precision = q->any_precision ? MYR_PRECISION_BF16 : (enum myr_precision)u->precision;
    q->tp = (uint32_t)u->tp;
    q->pp = (uint32_t)u->pp;
    q->vp = (uint32_t)u->vp;
    q->dp = (uint32_t)u->dp;
    q->cp = (uint32_t)u->cp;
    q->ep = (uint32_t)u->ep;
    q->micro_batch = (uint32_t)u->mbs;
    q->zero = u->zero > 3 ? -1 : (int)u->zero;
    q->recompute = (int)u->recompute - 1;
}

static void set_axes(struct myr_fit_query *q, const struct cli_fit_question *u)
{
    cli_fit_fix_axes(q, u);
    q->schedule = u->schedule == MYR_ARRAY_COUNT(cli_fit_schedules) - 1 ? MYR_FIT_SCHEDULE_ANY
                                                                        : (int)u->schedule - 1;
    q->top = (uint32_t)u->top;
    q->exhaustive = u->exhaustive;
}

/* A device runs what it has no units for no faster, and trainers refuse to try. */
static int check_precision(const struct myr_fit_query *q, struct myr_err *err)
{
    enum myr_precision list[4];
    uint32_t count = myr_fit_precisions(q->it.device, list);
    bool known = q->any_precision || q->precision == MYR_PRECISION_FP16 ||
                 q->precision == MYR_PRECISION_FP32;
    for (uint32_t i = 0; i < count && !known; i++) {
        known = list[i] == q->precision;
    }
    if (known) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "%s has no %s", q->it.device->name,
                         myr_precision_name(q->precision));
    myr_err_hint(err, "--precision %s would work", myr_precision_name(list[count - 1]));
    return rc;
}

int cli_fit_ask(struct cli_fit_asked *a, const struct cli_fit_question *u, struct myr_err *err)
{
    struct myr_fit_query *q = &a->query;
    bool pools = u->pools.count > 0;
    *q = myr_fit_query_default();
    int rc = need(u->model, "--model NAME", err);
    rc = rc < 0 ? rc : need(u->device || u->design || pools, "--device NAME", err);
    rc = rc < 0 ? rc : need(u->gpus > 0 || u->design || pools, "--gpus N", err);
    rc = rc < 0 ? rc : need(u->batch > 0, "--batch SEQUENCES", err);
    rc = rc < 0 ? rc : cli_fit_profiles(&a->profiles, &a->arena, u->profile, err);
    rc = rc < 0 ? rc : myr_model_find(&a->arena, u->model, &a->model, err);
    q->gpus = (uint32_t)u->gpus;
    rc = rc < 0 || !u->design ? rc : open_design(a, u, err);
    rc = rc < 0 || !u->device
             ? rc
             : myr_profiles_device(&a->profiles, myr_str_from(u->device), &q->it.device, err);
    rc = rc < 0 ? rc
                : myr_profiles_stack(&a->profiles, myr_str_from(u->software), &q->it.stack,
                                     &a->stack_exact, err);
    if (rc < 0) {
        return rc;
    }
    q->it.model = &a->model;
    q->it.constants = a->profiles.constants;
    q->batch = (uint32_t)u->batch;
    q->seq_tokens = (uint32_t)(u->seq ? u->seq : a->model.seq_tokens);
    (void)myr_model_stretch(&a->model, q->seq_tokens);
    set_axes(q, u);
    return pools ? MYR_OK : check_precision(q, err);
}

struct cli_fit_asked *cli_fit_asked_new(void)
{
    struct cli_fit_asked *a = myr_xcalloc(1, sizeof(*a));
    myr_arena_init(&a->arena);
    return a;
}

void cli_fit_asked_free(struct cli_fit_asked *a)
{
    if (a->has_design) {
        myr_design_close(&a->design);
    }
    myr_arena_done(&a->arena);
    free(a);
}

int cli_fit_error(const struct myr_err *err)
{
    /* What cannot be trained is a question that has to be asked otherwise. */
    int code = cli_error(err);
    return code == CLI_NO ? CLI_BAD_INPUT : code;
}

double cli_fit_spread(const struct cli_fit_asked *a)
{
    return myr_profiles_spread(&a->profiles, &a->model, a->query.it.device, a->stack_exact, false);
}

void cli_fit_put_layout(struct myr_json *json, const struct myr_layout *l)
{
    myr_json_u64(json, "tp", l->tp);
    myr_json_u64(json, "pp", l->pp);
    myr_json_u64(json, "vp", l->vp);
    myr_json_u64(json, "dp", l->dp);
    myr_json_u64(json, "cp", l->cp);
    myr_json_u64(json, "ep", l->ep);
    myr_json_u64(json, "etp", myr_layout_etp(l));
    myr_json_u64(json, "zero", l->zero);
    myr_json_u64(json, "shard", myr_layout_shard(l));
    myr_json_u64(json, "mbs", l->micro_batch);
    myr_json_text(json, "recompute", myr_recompute_name(l->recompute));
    if (l->recompute_layers > 0) {
        myr_json_u64(json, "recompute_layers", l->recompute_layers);
    }
    if (l->first_layers > 0) {
        myr_json_u64(json, "first_layers", l->first_layers);
        myr_json_u64(json, "last_layers", l->last_layers);
    }
    myr_json_text(json, "schedule", myr_schedule_name(l->schedule));
    myr_json_text(json, "precision", myr_precision_name(l->precision));
    myr_json_bool(json, "sequence_parallel", l->sequence_parallel);
    myr_json_list(json, "order");
    for (int i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        myr_json_text(json, NULL, myr_axis_name(l->order[i]));
    }
    myr_json_end(json);
}

void cli_fit_put_memory(struct myr_json *json, const struct myr_fit_memory *memory)
{
    const struct myr_state *s = &memory->state;
    const double gib = 1073741824;
    myr_json_double(json, "memory_gib", memory->total_bytes / gib, 3);
    myr_json_object(json, "memory_terms_gib");
    myr_json_double(json, "weights", (double)s->weight_bytes / gib, 3);
    myr_json_double(json, "gradients", (double)s->gradient_bytes / gib, 3);
    myr_json_double(json, "optimiser", (double)s->optimiser_bytes / gib, 3);
    myr_json_double(json, "activations", (double)s->activation_bytes / gib, 3);
    myr_json_double(json, "output", (double)s->output_bytes / gib, 3);
    myr_json_double(json, "working", (double)s->working_bytes / gib, 3);
    myr_json_double(json, "reserve", memory->reserve_bytes / gib, 3);
    myr_json_end(json);
}
