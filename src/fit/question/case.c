/*
 * case: one function makes a question into what is priced, for fit, goodput and sched alike, so
 * that a layout takes the same time whoever asks.
 */
#include "myriad/fit/case.h"

#include <sys/stat.h>

#include "myriad/fit/calibrate.h"

struct myr_case_question myr_case_question_default(void)
{
    return (struct myr_case_question){.zero = -1,
                                      .recompute = -1,
                                      .precision = -1,
                                      .sequence_parallel = -1,
                                      .schedule = MYR_FIT_SCHEDULE_STACK};
}

/* A file, or one that the caller holds. */
static bool has_design(const struct myr_case_question *u)
{
    return u->design || u->planned;
}

/* The option that is lacking, or NULL. */
static const char *lacking(const struct myr_case_question *u)
{
    return !u->model                                                ? "--model NAME"
           : !u->device && !has_design(u) && !u->pooled             ? "--device NAME"
           : !u->gpus && !has_design(u) && !u->layout && !u->pooled ? "--gpus N"
           : !u->batch && !u->layout                                ? "--batch SEQUENCES"
                                                                    : NULL;
}

static int check_complete(const struct myr_case_question *u, struct myr_err *err)
{
    /* The first one that is missing, by the name of its option. */
    const char *option = lacking(u);
    if (!option) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "give %s", option);
    myr_err_hint(err, "such as --model gpt3-175b --gpus 1024 --device h100 --batch 1536");
    return rc;
}

/* The layout */

/* Where the file says it; the block itself, where a key is left out or there is none. */
static const struct myr_doc *place_of(const struct myr_doc *doc, const char *key)
{
    const struct myr_doc *map = myr_doc_get(doc, "layout");
    const struct myr_doc *node = key ? myr_doc_get(map, key) : NULL;
    return node ? node : map;
}

/* What is chosen by name. NULL: all as asked for; else the key of the first that is not. */
static const char *other_choice(const struct myr_case_question *u, const struct myr_layout *l)
{
    return u->zero >= 0 && (uint32_t)u->zero != l->zero                            ? "zero"
           : u->recompute >= 0 && (enum myr_recompute)u->recompute != l->recompute ? "recompute"
           : u->any_precision ||
                   (u->precision >= 0 && (enum myr_precision)u->precision != l->precision)
               ? "precision"
           : u->sequence_parallel >= 0 && u->sequence_parallel != (int)l->sequence_parallel
               ? "sequence_parallel"
           : u->schedule != MYR_FIT_SCHEDULE_STACK && (enum myr_schedule)u->schedule != l->schedule
               ? "schedule"
               : NULL;
}

/* What is given beside a layout's file must say the same: silence would give another answer. */
static int check_same(const struct myr_case_question *u, const struct myr_doc *doc,
                      const struct myr_layout *l, uint32_t seq_tokens, struct myr_err *err)
{
    const struct {
        const char *name;
        uint64_t asked, there;
    } pairs[] = {
        {"tp", u->tp, l->tp},
        {"pp", u->pp, l->pp},
        {"vp", u->vp, l->vp},
        {"dp", u->dp, l->dp},
        {"cp", u->cp, l->cp},
        {"ep", u->ep, l->ep},
        {"etp", u->etp, myr_layout_etp(l)},
        {"shard", u->shard, myr_layout_shard(l)},
        {"recompute_layers", u->recompute_layers, l->recompute_layers},
        {"offload_layers", u->offload_layers, l->offload_layers},
        {"micro_batch", u->micro_batch, l->micro_batch},
        {"global_batch", u->batch, l->global_batch},
        {"sequence", u->seq, seq_tokens},
        {"the number of GPUs", u->gpus, myr_layout_gpus(l)},
    };
    /* 0 is "not asked for". */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        if (pairs[i].asked && pairs[i].asked != pairs[i].there) {
            return myr_doc_error(err, place_of(doc, pairs[i].name), MYR_EINVAL,
                                 "%s is %llu, and %llu is asked for", pairs[i].name,
                                 (unsigned long long)pairs[i].there,
                                 (unsigned long long)pairs[i].asked);
        }
    }
    const char *other = other_choice(u, l);
    return !other ? MYR_OK
                  : myr_doc_error(err, place_of(doc, other), MYR_EINVAL,
                                  "zero %u, recompute %s, schedule %s and precision %s there; "
                                  "something else is asked for",
                                  l->zero, myr_recompute_name(l->recompute),
                                  myr_schedule_name(l->schedule), myr_precision_name(l->precision));
}

/* What breaks a rule is told at the key of the file that the rule is about. */
static int check_rules(const struct myr_doc *doc, const struct myr_layout *layout,
                       const struct myr_model *model, struct myr_err *err)
{
    struct myr_err why = {};
    int rc = myr_layout_check(layout, model, 0, &why);
    if (rc == MYR_OK) {
        return MYR_OK;
    }
    const char *key = myr_layout_rule_key(myr_layout_broken(layout, model, 0));
    return myr_doc_error(err, place_of(doc, key), rc, "%s", why.message);
}

/* The file decides; what is asked beside it must agree. */
static int take_layout(struct myr_case *it, struct myr_arena *arena,
                       const struct myr_case_question *u, struct myr_err *err)
{
    struct myr_layout *l = &it->layout;
    if (u->exhaustive) {
        return myr_err_set(err, MYR_EINVAL,
                           "--exhaustive does not go with --layout: nothing is searched for");
    }
    const struct myr_doc *doc = u->layout_doc;
    MYR_TRY(doc ? MYR_OK : myr_layout_file_open(arena, u->layout, &doc, err));
    /* What the file leaves out and the question says: replicas as many as there are GPUs for. */
    bool open = it->has_design && !u->gpus && !myr_doc_get(myr_doc_get(doc, "layout"), "dp");
    struct myr_layout_rest rest = {open ? it->design.head->gpus : u->gpus, u->batch, u->seq};
    MYR_TRY(myr_layout_file_take(doc, &rest, l, err));
    /* The file's sequence, or the model's: what is compared is what would be priced. */
    uint32_t seq_tokens = myr_layout_seq(l, &it->model);
    MYR_TRY(check_same(u, doc, l, seq_tokens, err));
    (void)myr_model_stretch(&it->model, seq_tokens);
    MYR_TRY(check_rules(doc, l, &it->model, err));
    it->has_layout = true;
    it->query.gpus = (uint32_t)myr_layout_gpus(l);
    return MYR_OK;
}

/* A query that no other layout answers but by what it leaves open still: order, shard, cut. */
static void fix_query(struct myr_fit_query *q, const struct myr_layout *l, uint32_t seq_tokens)
{
    q->batch = l->global_batch;
    q->seq_tokens = seq_tokens;
    q->precision = l->precision;
    q->tp = l->tp;
    q->pp = l->pp;
    q->vp = l->vp;
    q->dp = l->dp;
    q->cp = l->cp;
    q->ep = l->ep;
    q->micro_batch = l->micro_batch;
    q->zero = (int)l->zero;
    q->recompute = (int)l->recompute;
    q->schedule = (int)l->schedule;
    q->sequence_parallel = l->sequence_parallel;
}

/* 0 and values below 0 leave an axis open. */
void myr_case_axes(const struct myr_case_question *question, struct myr_fit_query *query)
{
    const struct myr_case_question *u = question;
    struct myr_fit_query *q = query;
    q->any_precision = u->any_precision;
    q->precision = u->precision < 0 || u->any_precision ? MYR_PRECISION_BF16
                                                        : (enum myr_precision)u->precision;
    q->tp = (uint32_t)u->tp;
    q->pp = (uint32_t)u->pp;
    q->vp = (uint32_t)u->vp;
    q->dp = (uint32_t)u->dp;
    q->cp = (uint32_t)u->cp;
    q->ep = (uint32_t)u->ep;
    q->etp = (uint32_t)u->etp;
    q->micro_batch = (uint32_t)u->micro_batch;
    q->shard = (uint32_t)u->shard;
    q->recompute_layers = (uint32_t)u->recompute_layers;
    q->offload_layers = (uint32_t)u->offload_layers;
    q->sequence_parallel = u->sequence_parallel;
    q->zero = u->zero;
    q->recompute = u->recompute;
    q->schedule = u->schedule;
    /* Who states a layout asks what it takes, not what to choose: as a row that ran is told. */
    q->tight = u->tp && u->pp && u->cp && u->micro_batch && u->zero >= 0 && (u->pp == 1 || u->vp) &&
               (u->ep || q->it.model == NULL || q->it.model->moe.expert_count == 0);
}

/* A device runs what it has no units for no faster, and trainers refuse to try. */
static int check_precision(const struct myr_fit_query *q, struct myr_err *err)
{
    enum myr_precision list[4];
    uint32_t count = myr_fit_precisions(q->it.device, list);
    /* Every device runs these two, if not faster. */
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

/* The design */

/*
 * The profile of a catalogue's GPU: "h100-sxm" is "h100", "ascend-910b-npu" is "ascend-910b"; NULL:
 * there is none.
 */
static const struct myr_device *part_device(const struct myr_case *it, const char *part)
{
    const struct myr_device *device = NULL;
    struct myr_str name = myr_str_from(part);
    const char *dash = strrchr(part, '-');
    if (myr_profiles_device(&it->profiles, name, &device, NULL) == MYR_OK) {
        return device;
    }
    name.len = dash ? (size_t)(dash - part) : 0;
    return dash && myr_profiles_device(&it->profiles, name, &device, NULL) == MYR_OK ? device
                                                                                     : NULL;
}

/* The GPUs of the design where none are named; else whether those are others. */
static int choose_device(struct myr_case *it, struct myr_arena *arena,
                         const struct myr_case_question *u, struct myr_err *err)
{
    const struct myr_device **device = &it->query.it.device;
    const char *part =
        it->has_design ? myr_design_str(&it->design, it->design.head->gpu_part) : NULL;
    const struct myr_device *own = part ? part_device(it, part) : NULL;
    /* Other GPUs in the design's places are allowed; the answer says so. */
    if (u->device) {
        MYR_TRY(myr_profiles_device(&it->profiles, myr_str_from(u->device), device, err));
        it->design_gpu =
            part && *device != own ? myr_arena_strndup(arena, part, strlen(part)) : NULL;
        return MYR_OK;
    }
    if (part && !own) {
        int rc = myr_err_set(err, MYR_EINVAL,
                             "the design has GPUs '%s', of which no profile is known", part);
        myr_err_hint(err, "name the nearest one with --device");
        return rc;
    }
    *device = own;
    return MYR_OK;
}

/*
 * What flows that meet lose, where somebody has measured it on this design. 'ret' is NULL where
 * nobody has; it is remembered from which file it comes, for it shapes every answer.
 */
static int read_contention(struct myr_case *it, struct myr_arena *arena,
                           const struct myr_case_question *u, const struct myr_contention **ret,
                           struct myr_err *err)
{
    struct stat found;
    *ret = NULL;
    if (u->planned) {
        *ret = u->contention;
        return MYR_OK;
    }
    const char *path = myr_contention_path(arena, u->design);
    if (stat(path, &found) != 0) {
        return MYR_OK;
    }
    /* Nobody named it: whoever does not know of it must not wait for what a pipe brings. */
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
        return myr_err_set(err, MYR_EINVAL, "%s: a plain file is expected beside the design", path);
    }
    struct myr_contention *table = MYR_ARENA_ONE(arena, struct myr_contention);
    MYR_TRY(myr_contention_read(path, table, err));
    int rc = myr_fit_contention_check(table, &it->design, err);
    if (rc < 0) {
        (void)myr_err_wrap(err, "%s", path);
        return rc;
    }
    it->contention = path;
    *ret = table;
    return MYR_OK;
}

/* A design of the caller's is looked at through a copy of its record, which maps nothing. */
static int open_design(struct myr_case *it, const struct myr_case_question *u, struct myr_err *err)
{
    if (!u->planned) {
        return myr_design_open(&it->design, u->design, err);
    }
    /* Closing the copy must not unmap what the caller still holds. */
    it->design = *u->planned;
    it->design.mapping = NULL;
    it->design.mapping_bytes = 0;
    return MYR_OK;
}

/* GPUs, NICs and levels from the design; the device too unless another is named. */
static int take_design(struct myr_case *it, struct myr_arena *arena,
                       const struct myr_case_question *u, struct myr_err *err)
{
    struct myr_fit_query *q = &it->query;
    const struct myr_contention *table;
    const struct myr_design_head *head = it->design.head;
    MYR_TRY(myr_design_one_kind(
        &it->design, u->design ? u->design : myr_design_str(&it->design, head->name), err));
    /* All of the design unless fewer are asked for. */
    q->gpus = q->gpus ? q->gpus : head->gpus;
    if (q->gpus > head->gpus) {
        int rc = myr_err_set(err, MYR_EINVAL, "the design has %u GPU%s, %u are asked for",
                             head->gpus, head->gpus == 1 ? "" : "s", q->gpus);
        myr_err_hint(err, "--gpus %u, or leave it away", head->gpus);
        return rc;
    }
    MYR_TRY(choose_device(it, arena, u, err));
    MYR_TRY(read_contention(it, arena, u, &table, err));
    MYR_TRY(myr_fit_topology_init(&it->topology, arena, &it->design, table, q->gpus, err));
    q->it.topology = &it->topology;
    q->it.nic_gbps = it->topology.nic_gbps;
    q->it.domain_gpus = it->topology.domain_gpus;
    return MYR_OK;
}

/* The shipped ones, and the user's own over them. */
static int read_profiles(struct myr_case *it, struct myr_arena *arena,
                         const struct myr_case_question *u, struct myr_err *err)
{
    const struct myr_doc *own = u->profile_doc;
    MYR_TRY(myr_profiles_init(&it->profiles, arena, err));
    if (u->profile && !own) {
        MYR_TRY(myr_profiles_open(arena, u->profile, &own, err));
    }
    return own ? myr_profiles_take(&it->profiles, arena, own, err) : MYR_OK;
}

/* What if its NIC, its links or its memory were others? The profile is the case's own. */
static int change_device(struct myr_case *it, const struct myr_case_question *u,
                         struct myr_err *err)
{
    bool changed = u->nic_gbps || u->link_gbytes || u->memory_gib;
    const struct myr_device *of = it->query.it.device;
    if (!changed) {
        return MYR_OK;
    }
    if (u->pooled || (u->nic_gbps && has_design(u))) {
        return myr_err_set(err, MYR_EINVAL, "%s: %s", u->nic_gbps ? "--nic" : "--link and --memory",
                           u->pooled ? "each pool has its own device"
                                     : "the design says what NICs there are");
    }
    struct myr_device *own = &it->profiles.devices[of - it->profiles.devices];
    it->query.it.nic_gbps = u->nic_gbps ? (double)u->nic_gbps : it->query.it.nic_gbps;
    own->domain_bytes_per_s =
        u->link_gbytes ? (double)u->link_gbytes * 1e9 : own->domain_bytes_per_s;
    own->memory_bytes = u->memory_gib ? (double)u->memory_gib * 1073741824 : own->memory_bytes;
    return MYR_OK;
}

/* Layout before the rest of the design: it says how many of its GPUs there are. */
static int look_up(struct myr_case *it, struct myr_arena *arena, const struct myr_case_question *u,
                   struct myr_err *err)
{
    struct myr_fit_case *of = &it->query.it;
    MYR_TRY(read_profiles(it, arena, u, err));
    MYR_TRY(u->recipe ? myr_recipe_words("--recipe", u->recipe, &it->stated, err) : MYR_OK);
    if (u->model_read) {
        it->model = *u->model_read;
    } else {
        MYR_TRY(myr_model_find(arena, u->model, &it->model, err));
    }
    if (has_design(u)) {
        MYR_TRY(open_design(it, u, err));
        it->has_design = true;
    }
    MYR_TRY(u->layout ? take_layout(it, arena, u, err) : MYR_OK);
    MYR_TRY(has_design(u) ? take_design(it, arena, u, err) : MYR_OK);
    MYR_TRY(u->device && !has_design(u) ? choose_device(it, arena, u, err) : MYR_OK);
    MYR_TRY(change_device(it, u, err));
    /* The latest release measured on the device; pools have one of their own each. */
    const char *usual = of->device ? of->device->software : MYR_CASE_SOFTWARE;
    struct myr_str release = myr_str_from(u->software ? u->software : usual);
    MYR_TRY(myr_profiles_stack(&it->profiles, release, &of->stack, &it->stack_exact, err));
    it->release = it->stack_exact ? NULL : myr_arena_strndup(arena, release.data, release.len);
    return MYR_OK;
}

/* The case points into itself (model, constants, recipes): it must not be copied or moved. */
int myr_case_init(struct myr_case *ret, struct myr_arena *arena,
                  const struct myr_case_question *question, struct myr_err *err)
{
    struct myr_fit_query *q = &ret->query;
    *ret = (struct myr_case){.query = myr_fit_query_default(), .has_seq = question->seq > 0};
    q->gpus = (uint32_t)question->gpus;
    q->top = question->top ? question->top : 1;
    q->exhaustive = question->exhaustive;
    q->progress = question->progress;
    q->progress_context = question->progress_context;
    MYR_TRY(check_complete(question, err)); /* nothing is held yet */
    int rc = look_up(ret, arena, question, err);
    if (rc < 0) {
        myr_case_done(ret);
        return rc;
    }
    q->it.model = &ret->model;
    q->it.constants = ret->profiles.constants;
    /* Pools have devices, and so recipes, of their own. */
    if (q->it.device) {
        q->it.open = myr_profiles_recipes(&ret->profiles, q->it.stack, q->it.device, &ret->model,
                                          &ret->stated, ret->recipes);
        q->it.recipes = ret->recipes;
    }
    if (ret->has_layout) {
        fix_query(q, &ret->layout, myr_layout_seq(&ret->layout, &ret->model));
    } else {
        myr_case_axes(question, q);
        q->batch = (uint32_t)question->batch;
        q->seq_tokens = (uint32_t)(question->seq ? question->seq : ret->model.seq_tokens);
        (void)myr_model_stretch(&ret->model, q->seq_tokens);
    }
    /* Device and precision are each pool's own: checked there. */
    if (question->pooled) {
        return MYR_OK;
    }
    rc = check_precision(q, err);
    if (rc < 0) {
        myr_case_done(ret);
        return rc;
    }
    MYR_ASSERT(q->gpus > 0 && q->batch > 0 && q->seq_tokens > 0);
    return MYR_OK;
}

void myr_case_done(struct myr_case *it)
{
    if (it->has_design) {
        myr_design_close(&it->design);
    }
    it->has_design = false;
}

/* A layout that was given is not searched for, but it must fit. */
static int answer_given(const struct myr_case *it, struct myr_fit_answer *ret, struct myr_err *err)
{
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    const double gib = 1073741824;
    myr_fit_cost_of(&it->query.it, &it->layout, &cost);
    myr_fit_memory_of(&it->query.it, &it->layout, &memory);
    *ret = (struct myr_fit_answer){.evaluated = 1, .costed = 1};
    if (!memory.fits) {
        ret->nearest = it->layout;
        ret->nearest_bytes = memory.total_bytes;
        ret->has_nearest = true;
        int rc = myr_err_set(
            err, MYR_EINFEASIBLE, "the layout needs %.1f GiB a GPU, %s has %.1f GiB",
            memory.total_bytes / gib, it->query.it.device->name, memory.limit_bytes / gib);
        myr_err_hint(err, "without --layout the best one that fits is searched for");
        return rc;
    }
    ret->top[0] = (struct myr_fit_found){it->layout, cost.step_s};
    ret->top_count = 1;
    return MYR_OK;
}

int myr_case_answer(const struct myr_case *it, struct myr_arena *arena, struct myr_fit_answer *ret,
                    struct myr_err *err)
{
    return it->has_layout ? answer_given(it, ret, err)
                          : myr_fit_search(&it->query, arena, ret, err);
}

struct myr_fit_spread myr_case_spread(const struct myr_case *it, const struct myr_layout *layout,
                                      const struct myr_fit_cost *cost)
{
    return myr_fit_spread(&it->profiles, &it->query.it, layout, cost,
                          it->stack_exact ? 0 : MYR_UNKNOWN_RELEASE);
}

/* 'placement' NULL: ranks fill the design from its first node on. */
int myr_case_price(const struct myr_case *it, const struct myr_layout *layout,
                   const struct myr_fit_placement *placement, struct myr_arena *arena,
                   struct myr_case_price *ret, struct myr_err *err)
{
    struct myr_fit_case of = it->query.it;
    struct myr_case_price price = {.topology = it->topology};
    MYR_ASSERT(of.device && of.stack);
    /* Only the topology differs: the same layout and the same release. */
    if (placement && it->has_design) {
        MYR_TRY(myr_fit_topology_placed(&it->topology, arena, &it->design, placement,
                                        &price.topology, err));
        of.topology = &price.topology;
        of.domain_gpus = price.topology.domain_gpus;
    }
    myr_fit_cost_of(&of, layout, &price.cost);
    price.spread = myr_case_spread(it, layout, &price.cost);
    price.low_s = price.cost.step_s / (1 + price.spread.share);
    price.high_s = price.cost.step_s * (1 + price.spread.share);
    myr_fit_memory_of(&of, layout, &price.memory);
    *ret = price;
    return MYR_OK;
}
