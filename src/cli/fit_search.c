/* fit_search: the best layout, and what lies around it. */
#include <time.h>

#include "fit.h"

#define REFUSED_MAX 5

struct shown {
    struct cli_fit_asked *a;
    struct myr_fit_answer answer;
    struct myr_fit_choices choices;
    struct myr_fit_refusal refused[REFUSED_MAX];
    uint32_t refused_count;
    double search_ms;
};

static double gib(double bytes)
{
    return bytes / 1073741824;
}

/* Processor time: what a quiet machine's clock would show, on a busy one too. */
static double spent_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Without a design nothing beyond the scale-up domain has a name. */
static const char *level_name(const struct shown *s, uint32_t level)
{
    bool named = level == 0 || (s->a->has_design && level < MYR_FIT_LEVELS);
    return named ? myr_fit_level_names[level] : "fabric";
}

static const char *slowdown_source(const struct shown *s)
{
    if (!s->a->has_design) {
        return "generic: a NIC a GPU into one fabric, a fitted share lost for each doubling of a "
               "group's servers (link.crowd)";
    }
    return s->a->topology.measured
               ? "contention.json beside the design"
               : "oversubscription only; 'myriad sim contention' would write contention.json";
}

static void put_found(struct myr_json *json, const char *key, const struct shown *s,
                      const struct myr_fit_found *found)
{
    static const enum myr_axis axes[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP,
                                         MYR_AXIS_PP};
    const struct myr_fit_case *it = &s->a->query.it;
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    double spread = cli_fit_spread(s->a);
    myr_fit_cost_of(it, &found->layout, &cost);
    myr_fit_memory_of(it, &found->layout, &memory);
    myr_json_object(json, key);
    cli_fit_put_layout(json, &found->layout);
    myr_json_object(json, "placement"); /* the smallest level that holds whole groups */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        myr_json_text(json, myr_axis_name(axes[i]),
                      level_name(s, myr_fit_reach(it, &found->layout, axes[i])));
    }
    myr_json_end(json);
    myr_json_double(json, "step_s", cost.step_s, 6);
    myr_json_list(json, "step_s_interval");
    myr_json_double(json, NULL, cost.step_s / (1 + spread), 6);
    myr_json_double(json, NULL, cost.step_s * (1 + spread), 6);
    myr_json_end(json);
    myr_json_double(json, "mfu", cost.mfu, 5);
    myr_json_double(json, "tokens_per_s_per_gpu", cost.tokens_per_s_per_gpu, 3);
    cli_fit_put_memory(json, &memory);
    myr_json_object(json, "terms_s");
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        myr_json_double(json, myr_fit_term_name((enum myr_fit_term)i), cost.terms_s[i], 6);
    }
    myr_json_end(json);
    myr_json_end(json);
}

static void put_topology(struct myr_json *json, const struct shown *s)
{
    const struct myr_fit_topology *topology = &s->a->topology;
    myr_json_object(json, "topology");
    myr_json_text(json, "source", s->a->has_design ? "design" : "generic");
    myr_json_text(json, "slowdowns", slowdown_source(s));
    myr_json_list(json, "levels");
    for (uint32_t i = 0; s->a->has_design && i < MYR_FIT_LEVELS; i++) {
        const struct myr_fit_level *level = &topology->levels[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "level", myr_fit_level_names[i]);
        myr_json_u64(json, "gpus", level->gpus ? level->gpus : topology->gpus);
        myr_json_double(json, "oversubscription", level->oversubscription, 3);
        for (int p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
            myr_json_double(json, myr_contention_pattern_names[p], level->slow[p], 4);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_json_end(json);
}

static void put_refused(struct myr_json *json, const struct shown *s)
{
    myr_json_list(json, "refused"); /* faster, but too large */
    for (uint32_t i = 0; i < s->refused_count; i++) {
        const struct myr_fit_refusal *r = &s->refused[i];
        myr_json_object(json, NULL);
        cli_fit_put_layout(json, &r->found.layout);
        myr_json_double(json, "step_s", r->found.step_s, 6);
        myr_json_text(json, "largest_term", myr_fit_memory_term(&r->memory));
        myr_json_double(json, "over_gib", gib(r->memory.total_bytes - r->memory.limit_bytes), 3);
        cli_fit_put_memory(json, &r->memory);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_advice(struct myr_json *json, const struct shown *s)
{
    const struct myr_fit_found *best = &s->answer.top[0];
    const struct myr_fit_case *it = &s->a->query.it;
    myr_json_list(json, "choices");
    for (uint32_t i = 0; i < s->choices.count; i++) {
        const struct myr_fit_choice *c = &s->choices.items[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "axis", c->axis);
        myr_json_text(json, "value", c->value);
        myr_json_bool(json, "fits", c->found);
        myr_json_bool(json, "in_release", !c->foreign);
        if (c->found) {
            myr_json_double(json, "step_s", c->best.step_s, 6);
            myr_json_double(json, "costs_percent", 100 * (c->best.step_s / best->step_s - 1), 3);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_json_list(json, "sensitivity"); /* of the best layout's step, in percent */
    for (int k = 0; k < MYR_FIT_KNOB_COUNT; k++) {
        enum myr_fit_knob knob = (enum myr_fit_knob)k;
        double more = myr_fit_turned_s(it, &best->layout, knob, 1.1);
        double less = myr_fit_turned_s(it, &best->layout, knob, 0.9);
        myr_json_object(json, NULL);
        myr_json_text(json, "knob", myr_fit_knob_name(knob));
        myr_json_double(json, "plus_10_percent", 100 * (more / best->step_s - 1), 3);
        myr_json_double(json, "minus_10_percent", 100 * (less / best->step_s - 1), 3);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_launch(struct myr_json *json, const struct shown *s)
{
    const struct myr_layout *best = &s->answer.top[0].layout;
    struct myr_buf line = {0};
    myr_json_object(json, "launch");
    for (int t = MYR_TRAINER_MEGATRON; t <= MYR_TRAINER_TORCHTITAN; t++) {
        myr_buf_clear(&line);
        myr_launch_write(&line, (enum myr_trainer)t, best, &s->a->model);
        myr_json_str(json, myr_trainer_name((enum myr_trainer)t),
                     (struct myr_str){line.data, line.len});
    }
    myr_json_end(json);
    myr_buf_clear(&line);
    myr_layout_write(&line, best);
    myr_json_str(json, "layout", (struct myr_str){line.data, line.len});
    myr_buf_done(&line);
}

static void put_json(const struct shown *s, struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    struct myr_params params = myr_model_params(&s->a->model);
    myr_json_text(&json, "model", s->a->model.name);
    myr_json_object(&json, "parameters"); /* as counted: a file read wrongly shows here first */
    myr_json_u64(&json, "total", params.total);
    myr_json_u64(&json, "active", params.active);
    myr_json_u64(&json, "mtp", params.mtp);
    myr_json_end(&json);
    myr_json_text(&json, "device", s->a->query.it.device->name);
    myr_json_text(&json, "software", s->a->query.it.stack->name);
    myr_json_u64(&json, "gpus", s->a->query.gpus);
    myr_json_u64(&json, "batch", s->a->query.batch);
    myr_json_u64(&json, "sequence", s->a->query.seq_tokens);
    put_found(&json, "best", s, &s->answer.top[0]);
    myr_json_list(&json, "top");
    for (uint32_t i = 0; i < s->answer.top_count; i++) {
        put_found(&json, NULL, s, &s->answer.top[i]);
    }
    myr_json_end(&json);
    myr_json_u64(&json, "evaluated", s->answer.evaluated);
    myr_json_u64(&json, "costed", s->answer.costed);
    myr_json_double(&json, "search_ms", s->search_ms, 3);
    myr_json_double(&json, "gap", 0, 1);
    put_topology(&json, s);
    put_refused(&json, s);
    put_advice(&json, s);
    put_launch(&json, s);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_recompute(struct myr_buf *buf, const struct myr_layout *l)
{
    if (l->recompute_layers > 0) {
        myr_buf_printf(buf, "recompute %u layer%s a chunk", l->recompute_layers,
                       l->recompute_layers > 1 ? "s" : "");
    } else {
        myr_buf_printf(buf, "recompute %s", myr_recompute_name(l->recompute));
    }
}

static void put_line(struct myr_buf *buf, const struct myr_layout *l)
{
    myr_buf_printf(buf, "tp %u pp %u vp %u dp %u cp %u ep %u  micro-batch %u  ZeRO-%u", l->tp,
                   l->pp, l->vp, l->dp, l->cp, l->ep, l->micro_batch, l->zero);
    if (l->shard > 0) {
        myr_buf_printf(buf, " over %u", l->shard);
    }
    myr_buf_put_lit(buf, "  ");
    put_recompute(buf, l);
    if (l->first_layers > 0) {
        myr_buf_printf(buf, "  outer stages %u and %u layers", l->first_layers, l->last_layers);
    }
    if (l->schedule > MYR_SCHEDULE_INTERLEAVED) {
        myr_buf_printf(buf, "  %s", myr_schedule_name(l->schedule));
    }
    if (l->precision != MYR_PRECISION_BF16) {
        myr_buf_printf(buf, "  %s", myr_precision_name(l->precision));
    }
    myr_buf_putc(buf, '\n');
}

static void put_step(const struct shown *s, struct myr_buf *buf)
{
    const struct myr_fit_found *best = &s->answer.top[0];
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    double spread = cli_fit_spread(s->a);
    myr_fit_cost_of(&s->a->query.it, &best->layout, &cost);
    myr_fit_memory_of(&s->a->query.it, &best->layout, &memory);
    myr_buf_printf(buf,
                   "\nstep %.3f s (90 %%: %.3f to %.3f), MFU %.1f %%, %.0f tokens/s a GPU, %.1f of "
                   "%.1f GiB\n",
                   cost.step_s, cost.step_s / (1 + spread), cost.step_s * (1 + spread),
                   100 * cost.mfu, cost.tokens_per_s_per_gpu, gib(memory.total_bytes),
                   gib(memory.limit_bytes));
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        if (cost.terms_s[i] > 0.0005 * cost.step_s) {
            myr_buf_printf(buf, "  %-14s %9.4f s %5.1f %%\n",
                           myr_fit_term_name((enum myr_fit_term)i), cost.terms_s[i],
                           100 * cost.terms_s[i] / cost.step_s);
        }
    }
}

static void put_around(const struct shown *s, struct myr_buf *buf)
{
    const struct myr_fit_found *best = &s->answer.top[0];
    myr_buf_put_lit(buf, "\nother choices, all else free\n");
    for (uint32_t i = 0; i < s->choices.count; i++) {
        const struct myr_fit_choice *c = &s->choices.items[i];
        myr_buf_printf(buf, "  %-9s %-12s ", c->axis, c->value);
        if (c->found) {
            myr_buf_printf(buf, "%9.3f s %+6.1f %%%s\n", c->best.step_s,
                           100 * (c->best.step_s / best->step_s - 1),
                           c->foreign ? "  not in this release" : "");
        } else {
            myr_buf_put_lit(buf, "does not fit\n");
        }
    }
    myr_buf_put_lit(buf, "\nthe same layout on other hardware   +10 %    -10 %\n");
    for (int k = 0; k < MYR_FIT_KNOB_COUNT; k++) {
        enum myr_fit_knob knob = (enum myr_fit_knob)k;
        const struct myr_fit_case *it = &s->a->query.it;
        double more = myr_fit_turned_s(it, &best->layout, knob, 1.1);
        double less = myr_fit_turned_s(it, &best->layout, knob, 0.9);
        myr_buf_printf(buf, "  %-28s %+8.2f %% %+7.2f %%\n", myr_fit_knob_name(knob),
                       100 * (more / best->step_s - 1), 100 * (less / best->step_s - 1));
    }
    if (s->refused_count > 0) {
        myr_buf_put_lit(buf, "\nfaster, but too large\n");
    }
    for (uint32_t i = 0; i < s->refused_count; i++) {
        const struct myr_fit_refusal *r = &s->refused[i];
        myr_buf_printf(buf, "  %8.3f s  %.1f GiB too much, most of it %s: ", r->found.step_s,
                       gib(r->memory.total_bytes - r->memory.limit_bytes),
                       myr_fit_memory_term(&r->memory));
        put_line(buf, &r->found.layout);
    }
}

static void put_text(const struct shown *s, struct myr_buf *buf)
{
    const struct cli_fit_asked *a = s->a;
    const struct myr_layout *best = &s->answer.top[0].layout;
    char grouped[32];
    struct myr_params params = myr_model_params(&a->model);
    myr_buf_printf(buf, "%s (%.4g billion parameters", a->model.name, (double)params.total / 1e9);
    if (params.active < params.total) {
        myr_buf_printf(buf, ", %.4g active", (double)params.active / 1e9);
    }
    myr_buf_printf(buf, ") on %u x %s, batch %u x %u tokens, %s\n", a->query.gpus,
                   a->query.it.device->name, a->query.batch, a->query.seq_tokens,
                   a->query.it.stack->name);
    myr_buf_printf(buf, "network: %s\n\n", slowdown_source(s));
    for (uint32_t i = 0; i < s->answer.top_count; i++) {
        myr_buf_printf(buf, "%2u. %8.3f s  ", i + 1, s->answer.top[i].step_s);
        put_line(buf, &s->answer.top[i].layout);
    }
    put_step(s, buf);
    put_around(s, buf);
    myr_buf_printf(buf, "\n%s layouts in %.1f ms\n", myr_u64_grouped(s->answer.evaluated, grouped),
                   s->search_ms);
    for (int t = MYR_TRAINER_MEGATRON; t <= MYR_TRAINER_TORCHTITAN; t++) {
        myr_buf_printf(buf, "\n%s: ", myr_trainer_name((enum myr_trainer)t));
        myr_launch_write(buf, (enum myr_trainer)t, best, &a->model);
        myr_buf_putc(buf, '\n');
    }
    myr_buf_putc(buf, '\n');
    myr_layout_write(buf, best);
}

/* Nothing fits: the nearest layout with its memory, term by term, for programs. */
static void put_nothing(const struct shown *s, const struct myr_err *err, struct myr_buf *buf)
{
    struct myr_json json;
    struct myr_fit_memory memory;
    const struct myr_layout *nearest = &s->answer.nearest;
    myr_fit_memory_of(&s->a->query.it, nearest, &memory);
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "error", err->message);
    myr_json_text(&json, "hint", err->hint);
    myr_json_u64(&json, "evaluated", s->answer.evaluated);
    myr_json_object(&json, "nearest");
    cli_fit_put_layout(&json, nearest);
    myr_json_text(&json, "largest_term", myr_fit_memory_term(&memory));
    myr_json_double(&json, "over_gib", gib(memory.total_bytes - memory.limit_bytes), 3);
    cli_fit_put_memory(&json, &memory);
    myr_json_end(&json);
    put_refused(&json, s);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static int answer(struct shown *s, struct myr_err *err)
{
    struct cli_fit_asked *a = s->a;
    double start_ms = spent_ms();
    int rc = myr_fit_search(&a->query, &a->arena, &s->answer, err);
    s->search_ms = spent_ms() - start_ms;
    double best_s = rc < 0 ? 1e30 : s->answer.top[0].step_s;
    s->refused_count = myr_fit_refused(&a->query, &a->arena, best_s, s->refused, REFUSED_MAX);
    if (rc == MYR_OK) {
        myr_fit_choices(&a->query, &s->answer.top[0].layout, &a->arena, &s->choices);
    }
    return rc;
}

int cli_fit_search(const struct cli_fit_question *question, bool json)
{
    struct cli_fit_asked *a = cli_fit_asked_new();
    struct shown *s = MYR_ARENA_NEW(&a->arena, struct shown, 1);
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int code = CLI_DONE;
    s->a = a;
    int rc = cli_fit_ask(a, question, &err);
    bool asked = rc == MYR_OK;
    rc = rc < 0 ? rc : answer(s, &err);
    rc = rc < 0
             ? rc
             : cli_fit_report(question, &a->query, &s->answer, cli_fit_spread(a), &a->arena, &err);
    if (rc < 0) {
        if (asked && json && s->answer.has_nearest) {
            put_nothing(s, &err, &buf);
            code = cli_print(&buf);
        }
        code = code == CLI_DONE ? cli_fit_error(&err) : code;
    } else {
        if (json) {
            put_json(s, &buf);
        } else {
            put_text(s, &buf);
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    cli_fit_asked_free(a);
    return code;
}
