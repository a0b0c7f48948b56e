/*
 * case: from option rows to a question, and from layouts to the tree. What several verbs about a
 * training job tell alike is told here once, so that one layout has the same keys and words
 * wherever it is met.
 */
#include "case/case.h"

#include <time.h>

const char *const cli_case_recomputes[4] = {"any", "none", "selective", "full"};
const char *const cli_case_sequences[3] = {"any", "off", "on"};
const char *const cli_case_schedules[6] = {"stack",       "1f1b",     "interleaved",
                                           "zero-bubble", "dualpipe", "any"};
const char *const cli_case_precisions[8] = {"default", "bf16",  "fp16", "fp8",
                                            "mxfp8",   "nvfp4", "fp32", "any"};

/* The choices stand in the order of their enums, with one in front for "not given". */
enum { PRECISION_ANY = 7, SCHEDULE_ANY = 5 };

double cli_fit_spent_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The one way from options to a question: the same words ask the same in every verb. */
struct myr_case_question cli_case_question(const struct cli_case *of)
{
    struct myr_case_question q = myr_case_question_default();
    q.model = of->model;
    q.device = of->device;
    q.software = of->software;
    q.recipe = of->recipe;
    q.profile = of->profile;
    q.design = of->design;
    q.layout = of->layout;
    q.gpus = of->gpus;
    q.batch = of->batch;
    q.seq = of->seq;
    q.tp = of->tp;
    q.pp = of->pp;
    q.vp = of->vp;
    q.dp = of->dp;
    q.cp = of->cp;
    q.ep = of->ep;
    q.etp = of->etp;
    q.micro_batch = of->mbs;
    q.shard = of->shard;
    q.recompute_layers = of->recompute_layers;
    q.offload_layers = of->offload_layers;
    q.sequence_parallel = (int)of->sequence - 1;
    q.nic_gbps = of->nic;
    q.link_gbytes = of->link;
    q.memory_gib = of->memory;
    q.zero = of->zero == CLI_CASE_ZERO_OPEN ? -1 : (int)of->zero;
    q.recompute = (int)of->recompute - 1;
    q.any_precision = of->precision == PRECISION_ANY;
    q.precision = q.any_precision ? -1 : (int)of->precision - 1;
    q.schedule = of->schedule == SCHEDULE_ANY ? MYR_FIT_SCHEDULE_ANY : (int)of->schedule - 1;
    return q;
}

/* Names with blanks between them, as completion takes them. */
void cli_case_models(struct myr_buf *buf)
{
    for (uint32_t i = 0; i < myr_model_builtin_count(); i++) {
        struct myr_str name = myr_model_builtin_name(i);
        myr_buf_printf(buf, "%s%.*s", i ? " " : "", (int)name.len, name.data);
    }
}

void cli_case_devices(struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_profiles profiles;
    myr_arena_init(&arena);
    if (myr_profiles_init(&profiles, &arena, NULL) < 0) {
        return; /* completion and help do without: the verb itself says what is wrong */
    }
    for (uint32_t i = 0; i < profiles.device_count; i++) {
        myr_buf_printf(buf, "%s%s", i ? " " : "", profiles.devices[i].name);
    }
}

/* 0 is how a layout says "not set"; an answer says null. */
static void put_count(struct myr_answer *answer, const char *key, uint32_t value)
{
    if (value > 0) {
        myr_answer_u64(answer, key, value);
    } else {
        myr_answer_null(answer, key);
    }
}

/* Values that a layout leaves to a rule (etp, shard) are told as they come out. */
void cli_put_layout(struct myr_answer *answer, const struct myr_layout *l)
{
    myr_answer_u64(answer, "tp", l->tp);
    myr_answer_u64(answer, "pp", l->pp);
    myr_answer_u64(answer, "vp", l->vp);
    myr_answer_u64(answer, "dp", l->dp);
    myr_answer_u64(answer, "cp", l->cp);
    myr_answer_u64(answer, "ep", l->ep);
    myr_answer_u64(answer, "etp", myr_layout_etp(l));
    myr_answer_u64(answer, "zero", l->zero);
    myr_answer_u64(answer, "shard", myr_layout_shard(l));
    myr_answer_u64(answer, "mbs", l->micro_batch);
    myr_answer_text(answer, "recompute", myr_recompute_name(l->recompute));
    put_count(answer, "recompute_layers", l->recompute_layers);
    put_count(answer, "first_layers", l->first_layers);
    put_count(answer, "last_layers", l->last_layers);
    myr_answer_bool(answer, "output_counts", l->output_counts);
    myr_answer_text(answer, "schedule", myr_schedule_name(l->schedule));
    myr_answer_text(answer, "precision", myr_precision_name(l->precision));
    myr_answer_bool(answer, "sequence_parallel", l->sequence_parallel);
    myr_answer_list(answer, "order");
    for (int i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        myr_answer_text(answer, NULL, myr_axis_name(l->order[i]));
    }
    myr_answer_end(answer);
}

void cli_put_recipe(struct myr_answer *answer, const struct myr_fit_case *it,
                    const struct myr_layout *layout)
{
    struct myr_recipe taken = it ? myr_fit_taken(it, layout) : (struct myr_recipe){};
    myr_answer_object(answer, "recipe");
    for (int i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        enum myr_capability one = (enum myr_capability)i;
        char word[64];
        myr_answer_text(answer, myr_capability_name(one),
                        it ? myr_capability_word(one, taken.of[i], word) : NULL);
    }
    myr_answer_end(answer);
}

/* Beside the nearest run: what the layout does that no run of them does. */
static void put_rests_on(struct myr_buf *words, const struct myr_case *it,
                         const struct myr_layout *layout, const struct myr_fit_spread *spread)
{
    myr_fit_spread_words(&it->profiles, spread, words);
    if (layout->zero > 0 && layout->zero < 3 && layout->shard > 0 &&
        layout->shard < layout->dp * layout->cp) {
        myr_buf_printf(words, "; no measured run cuts ZeRO-%u over part of its replicas",
                       layout->zero);
    }
}

const char *cli_fit_rests_on(struct myr_arena *arena, const struct myr_case *it,
                             const struct myr_layout *layout, const struct myr_fit_spread *spread)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    put_rests_on(&words, it, layout, spread);
    return myr_arena_strndup(arena, words.data, words.len);
}

void cli_fit_put_rests_on(struct myr_answer *answer, const struct myr_case *it,
                          const struct myr_layout *layout, const struct myr_fit_spread *spread)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    put_rests_on(&words, it, layout, spread);
    myr_answer_str(answer, "rests_on", (struct myr_str){words.data, words.len});
}

/* A list of two, the lower one first. */
void cli_put_pair(struct myr_answer *answer, const char *key, double low, double high, int digits)
{
    myr_answer_list(answer, key);
    myr_answer_double(answer, NULL, low, digits);
    myr_answer_double(answer, NULL, high, digits);
    myr_answer_end(answer);
}

/* How full the fullest device is, and how likely that holds it: sure is 19 times of 20. */
void cli_put_chance(struct myr_answer *answer, const struct myr_fit_memory *memory)
{
    myr_answer_double(answer, "memory_fill", memory->total_bytes / memory->limit_bytes, 3);
    myr_answer_double(answer, "memory_probability", memory->probability, 3);
    myr_answer_bool(answer, "memory_sure", memory->sure);
}

/*
 * What is taken of the limit and what is left of it; the peak is what a trainer would count, with
 * its interval.
 */
void cli_put_memory(struct myr_answer *answer, const struct myr_fit_memory *memory)
{
    const struct myr_state *s = &memory->state;
    const double gib = 1073741824;
    myr_answer_double(answer, "memory_gib", memory->total_bytes / gib, 3);
    myr_answer_double(answer, "memory_limit_gib", memory->limit_bytes / gib, 3);
    myr_answer_double(answer, "memory_margin_gib",
                      (memory->limit_bytes - memory->total_bytes) / gib, 3);
    cli_put_chance(answer, memory);
    myr_answer_double(answer, "memory_peak_gib", memory->peak_bytes / gib, 3);
    cli_put_pair(answer, "memory_peak_gib_interval", memory->peak_low_bytes / gib,
                 memory->peak_high_bytes / gib, 3);
    myr_answer_object(answer, "memory_terms_gib");
    myr_answer_double(answer, "weights", (double)s->weight_bytes / gib, 3);
    myr_answer_double(answer, "gradients", (double)s->gradient_bytes / gib, 3);
    myr_answer_double(answer, "optimiser", (double)s->optimiser_bytes / gib, 3);
    myr_answer_double(answer, "activations", (double)s->activation_bytes / gib, 3);
    myr_answer_double(answer, "output", (double)s->output_bytes / gib, 3);
    myr_answer_double(answer, "working", (double)s->working_bytes / gib, 3);
    myr_answer_double(answer, "reserve", memory->reserve_bytes / gib, 3);
    myr_answer_end(answer);
}

void cli_put_known(struct myr_answer *answer, const char *key, bool known, double value, int digits)
{
    if (known) {
        myr_answer_double(answer, key, value, digits);
    } else {
        myr_answer_null(answer, key);
    }
}

const char *cli_layout_words(struct myr_arena *arena, const struct myr_layout *l)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_buf_printf(&buf, "tp %u pp %u vp %u dp %u cp %u ep %u, micro-batch %u, ZeRO-%u", l->tp,
                   l->pp, l->vp, l->dp, l->cp, l->ep, l->micro_batch, l->zero);
    if (l->shard > 0) {
        myr_buf_printf(&buf, " over %u", l->shard);
    }
    if (l->recompute_layers > 0) {
        myr_buf_printf(&buf, ", recompute %u layer%s a chunk", l->recompute_layers,
                       l->recompute_layers > 1 ? "s" : "");
    } else {
        myr_buf_printf(&buf, ", recompute %s", myr_recompute_name(l->recompute));
    }
    if (l->first_layers > 0) {
        myr_buf_printf(&buf, ", outer stages %u and %s", l->first_layers,
                       MYR_COUNT(l->last_layers, "layer"));
    }
    if (l->output_counts) {
        myr_buf_printf(&buf, ", output and prediction modules dealt as layers");
    }
    /* The usual is not said: 1F1B and interleaved follow from vp, BF16 is the default. */
    if (l->schedule > MYR_SCHEDULE_INTERLEAVED) {
        myr_buf_printf(&buf, ", %s", myr_schedule_name(l->schedule));
    }
    if (l->precision != MYR_PRECISION_BF16) {
        myr_buf_printf(&buf, ", %s", myr_precision_name(l->precision));
    }
    return myr_arena_strndup(arena, buf.data, buf.len);
}

/* Where another release is priced than the one that was asked for, or none was named; else NULL. */
static const char *release_note(const struct myr_case *it, struct myr_buf *words)
{
    const struct myr_stack *stack = it->query.it.stack;
    if (it->release) {
        myr_buf_printf(words, "%s, priced as %s; 'myriad fit stacks' lists what is known",
                       it->release, stack->name);
    } else if (myr_stack_undated(&it->profiles, stack)) {
        myr_buf_printf(words,
                       "%s without a date, priced as its earliest: a loss that is not fused takes "
                       "more memory; 'myriad fit stacks' lists what is known",
                       stack->name);
    } else {
        return NULL;
    }
    return words->data;
}

/* 'design_gpu' is what the design has, where --device takes its place; else null. */
void cli_case_put_names(struct myr_answer *answer, const struct myr_case *it, bool pooled)
{
    if (!it) {
        static const char *const keys[] = {"model",    "parameters",    "device",    "design_gpu",
                                           "software", "software_note", "contention"};
        for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
            myr_answer_null(answer, keys[i]);
        }
        return;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    struct myr_params params = myr_model_params(&it->model);
    myr_answer_text(answer, "model", it->model.name);
    myr_answer_object(answer, "parameters"); /* as counted: a file read wrongly shows here first */
    myr_answer_u64(answer, "total", params.total);
    myr_answer_u64(answer, "active", params.active);
    myr_answer_u64(answer, "mtp", params.mtp);
    myr_answer_end(answer);
    myr_answer_text(answer, "device", pooled ? NULL : it->query.it.device->name);
    myr_answer_text(answer, "design_gpu", it->design_gpu);
    myr_answer_text(answer, "software", it->query.it.stack->name);
    myr_answer_text(answer, "software_note", release_note(it, &words));
    myr_answer_text(answer, "contention", it->contention); /* the file; null: nothing measured */
}

void cli_fit_put_case(struct myr_answer *answer, const struct myr_case *it, bool pooled)
{
    cli_case_put_names(answer, it, pooled);
    if (pooled) {
        myr_answer_null(answer, "gpus");
    } else {
        myr_answer_u64(answer, "gpus", it->query.gpus);
    }
    myr_answer_u64(answer, "batch", it->query.batch);
    myr_answer_u64(answer, "sequence", it->query.seq_tokens);
}

/* All keys are always there: what has nothing to say is null. */
void cli_fit_put_found(struct myr_answer *answer, const struct myr_err *why)
{
    myr_answer_bool(answer, "found", !why);
    myr_answer_text(answer, "reason", why ? why->message : NULL);
    myr_answer_text(answer, "hint", why && why->hint[0] ? why->hint : NULL);
}

void cli_fit_show_nothing(struct myr_answer *answer, const struct myr_err *why)
{
    myr_answer_heading(answer, "No layout fits");
    myr_answer_para(answer, "%s", why->message);
    if (why->hint[0]) {
        myr_answer_fact(answer, "hint", "%s", why->hint);
    }
}

void cli_fit_show_device(struct myr_answer *answer, const struct myr_case *it)
{
    if (it->design_gpu) {
        myr_answer_fact(answer, "GPUs", "%s, as --device says, in place of the design's %s",
                        it->query.it.device->name, it->design_gpu);
    }
}

void cli_fit_show_basis(struct myr_answer *answer, const struct myr_case *it)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    const char *note = release_note(it, &words);
    if (note) {
        myr_answer_fact(answer, "software", "%s", note);
    }
    if (it->contention) {
        myr_answer_fact(answer, "network", "contention as measured: %s", it->contention);
    } else {
        myr_answer_fact(answer, "network", "%s", myr_study_slowdowns(it));
    }
}
