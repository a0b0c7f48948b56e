#include "myriad/fit/search.h"

#include "combine.h"

#define VP_MAX      16U
#define CP_MAX      16U
#define TP_MAX      32U
#define MICRO_MAX   32U
#define SHAPE_KINDS 8U /* distinct stages of one pipeline; more are merged upwards */
#define SHARDS_MAX  64U
#define ORDERS_MAX  6U
/* The scalar bound adds in another order than the full sum; this covers the difference. */
#define BOUND_SLACK (1 - 1e-9)

/* One kind of stage: how many layers of each kind, and whether it opens or closes the pipeline. */
struct stage_kind {
    double layers[FIT_KIND_COUNT];
    double count;
    bool first, last;
};

/* How layers fall on pp x vp chunks; the same for every width and batch. */
struct shape {
    uint32_t pp, vp;
    uint32_t kind_count;
    struct stage_kind kinds[SHAPE_KINDS];
};

struct search {
    const struct myr_fit_query *query;
    struct myr_fit_answer *answer;
    struct shape *shapes;
    uint32_t shape_count;
    double limit_s; /* the worst of the kept ones, once there are enough */
};

/* Choices below a grid of (tp, cp, pp, ep, etp). */
struct tail {
    uint32_t shards[SHARDS_MAX];
    uint32_t shard_count;
    enum myr_axis orders[ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t order_count;
};

struct myr_fit_query myr_fit_query_default(void)
{
    return (struct myr_fit_query){
        .zero = -1, .recompute = -1, .schedule = -1, .sequence_parallel = -1, .top = 1};
}

static bool allowed(uint32_t wanted, uint32_t value)
{
    return wanted == 0 || wanted == value;
}

static void add_stage(struct shape *shape, const struct stage_kind *stage)
{
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        struct stage_kind *known = &shape->kinds[i];
        if (known->first == stage->first && known->last == stage->last &&
            memcmp(known->layers, stage->layers, sizeof(stage->layers)) == 0) {
            known->count += 1;
            return;
        }
    }
    if (shape->kind_count < SHAPE_KINDS) {
        shape->kinds[shape->kind_count] = *stage;
        shape->kinds[shape->kind_count++].count = 1;
    }
    /* A stage left out only lowers the bound, which stays a bound. */
}

static void make_shape(const struct myr_model *model, struct myr_layout layout, struct shape *ret)
{
    *ret = (struct shape){.pp = layout.pp, .vp = layout.vp};
    for (uint32_t p = 0; p < layout.pp; p++) {
        struct stage_kind stage = {.first = p == 0, .last = p + 1 == layout.pp};
        for (uint32_t v = 0; v < layout.vp; v++) {
            struct myr_span span = myr_layout_chunk_layers(&layout, model, p + v * layout.pp);
            for (uint32_t i = span.first; i < span.first + span.count; i++) {
                bool moe = myr_model_layer_is_moe(model, i);
                bool full = model->window_tokens == 0 || myr_model_layer_is_full(model, i);
                stage.layers[moe ? (full ? FIT_MOE_FULL : FIT_MOE_WINDOW)
                                 : (full ? FIT_DENSE_FULL : FIT_DENSE_WINDOW)] += 1;
            }
        }
        add_stage(ret, &stage);
    }
}

static void make_shapes(struct search *s, struct myr_arena *arena)
{
    const struct myr_fit_query *q = s->query;
    const struct myr_model *model = q->it.model;
    uint32_t layers = model->layer_count;
    s->shapes = MYR_ARENA_NEW(arena, struct shape, (layers + 1) * (size_t)VP_MAX);
    for (uint32_t pp = 1; pp <= layers; pp++) {
        if (q->gpus % pp != 0 || !allowed(q->pp, pp)) {
            continue;
        }
        for (uint32_t vp = 1; vp <= (pp > 1 ? VP_MAX : 1); vp++) {
            bool even = layers % (pp * vp) == 0;
            /* Uneven cuts are searched without interleaving, or when asked for. */
            if (!allowed(q->vp, vp) || (vp > 1 && !even && q->vp == 0) || pp * vp > layers + 2) {
                continue;
            }
            struct myr_layout layout = myr_layout_default();
            layout.pp = pp;
            layout.vp = vp;
            layout.schedule = vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
            make_shape(model, layout, &s->shapes[s->shape_count++]);
        }
    }
}

/* Orders that differ for this grid: an axis of one rank can stand anywhere. */
static void make_orders(const struct myr_layout *layout, struct tail *tail)
{
    static const enum myr_axis rest[ORDERS_MAX][3] = {
        {MYR_AXIS_CP, MYR_AXIS_DP, MYR_AXIS_PP}, {MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_DP},
        {MYR_AXIS_DP, MYR_AXIS_CP, MYR_AXIS_PP}, {MYR_AXIS_DP, MYR_AXIS_PP, MYR_AXIS_CP},
        {MYR_AXIS_PP, MYR_AXIS_CP, MYR_AXIS_DP}, {MYR_AXIS_PP, MYR_AXIS_DP, MYR_AXIS_CP}};
    tail->order_count = 0;
    for (uint32_t i = 0; i < ORDERS_MAX; i++) {
        bool moves_nothing = false;
        for (uint32_t j = 0; j + 1 < 3; j++) {
            /* Of equal orders keep the one with axes of one rank in the usual place. */
            uint32_t a = rest[i][j] == MYR_AXIS_CP   ? layout->cp
                         : rest[i][j] == MYR_AXIS_DP ? layout->dp
                                                     : layout->pp;
            uint32_t b = rest[i][j + 1] == MYR_AXIS_CP   ? layout->cp
                         : rest[i][j + 1] == MYR_AXIS_DP ? layout->dp
                                                         : layout->pp;
            bool usual = rest[i][j] < rest[i][j + 1]; /* cp, dp, pp in the enumeration too */
            moves_nothing = moves_nothing || ((a == 1 || b == 1) && !usual);
        }
        if (moves_nothing) {
            continue;
        }
        enum myr_axis *to = tail->orders[tail->order_count++];
        uint32_t at = 0;
        to[at++] = MYR_AXIS_TP;
        for (uint32_t j = 0; j < 3; j++) {
            if (rest[i][j] == MYR_AXIS_DP) {
                to[at++] = MYR_AXIS_EP; /* replicas of an expert stand where replicas do */
            }
            to[at++] = rest[i][j];
        }
    }
}

static void make_tail(const struct search *s, struct myr_layout layout, struct tail *tail)
{
    const struct myr_model *model = s->query->it.model;
    uint32_t kept = 0;
    make_orders(&layout, tail);
    layout.zero = 1;
    for (uint32_t i = 0; i < tail->order_count; i++) {
        memcpy(layout.order, tail->orders[i], sizeof(layout.order));
        if (myr_layout_broken(&layout, model, 0) != MYR_LAYOUT_EXPERT_ORDER) {
            memmove(tail->orders[kept++], tail->orders[i], sizeof(tail->orders[i]));
        }
    }
    tail->order_count = kept;
    memcpy(layout.order, tail->orders[0], sizeof(layout.order));
    tail->shards[0] = 0;
    tail->shard_count = 1;
    for (uint32_t d = 2; d < layout.dp && tail->shard_count < SHARDS_MAX; d++) {
        layout.shard = d * layout.cp;
        if (layout.dp % d == 0 && myr_layout_broken(&layout, model, 0) != MYR_LAYOUT_SHARD) {
            tail->shards[tail->shard_count++] = layout.shard;
        }
    }
}

static uint64_t tail_layouts(const struct search *s, const struct tail *tail)
{
    uint64_t zeros = s->query->zero < 0    ? 1 + 3 * (uint64_t)tail->shard_count
                     : s->query->zero == 0 ? 1
                                           : tail->shard_count;
    return zeros * tail->order_count;
}

/* Ties go to the layout met first, so both ways of searching agree. */
static void keep(struct search *s, const struct myr_layout *layout, double step_s)
{
    struct myr_fit_answer *a = s->answer;
    uint32_t at = a->top_count < s->query->top ? a->top_count++ : a->top_count - 1;
    while (at > 0 && a->top[at - 1].step_s > step_s) {
        a->top[at] = a->top[at - 1];
        at--;
    }
    a->top[at] = (struct myr_fit_found){*layout, step_s};
    if (a->top_count == s->query->top) {
        s->limit_s = a->top[a->top_count - 1].step_s;
    }
}

static bool fits(struct search *s, const struct myr_layout *layout)
{
    struct myr_fit_answer *a = s->answer;
    struct myr_fit_memory memory;
    myr_fit_memory_of(&s->query->it, layout, &memory);
    if (!memory.fits && (!a->has_nearest || memory.total_bytes < a->nearest_bytes)) {
        a->nearest = *layout;
        a->nearest_bytes = memory.total_bytes;
        a->has_nearest = true;
    }
    return memory.fits;
}

/* All of ZeRO, shard and order below one pipeline. */
static void price_tail(struct search *s, struct myr_layout layout, const struct tail *tail,
                       const struct fit_blocks *blocks)
{
    const struct myr_fit_query *q = s->query;
    struct fit_places usual = fit_places_of(&q->it, &layout);
    for (uint32_t o = 0; o < tail->order_count; o++) {
        struct fit_blocks moved;
        struct fit_pipe pipe;
        const struct fit_blocks *used = blocks;
        memcpy(layout.order, tail->orders[o], sizeof(layout.order));
        struct fit_places places = fit_places_of(&q->it, &layout);
        if (memcmp(&places.cp_near, &usual.cp_near, sizeof(usual.cp_near)) != 0 ||
            memcmp(&places.ep_near, &usual.ep_near, sizeof(usual.ep_near)) != 0 || !used) {
            fit_blocks_of(&q->it, &layout, &moved);
            used = &moved;
        }
        fit_pipe_of(&q->it, &layout, used, &pipe);
        for (uint32_t zero = 0; zero <= 3; zero++) {
            layout.zero = zero;
            for (uint32_t i = 0; i < (zero ? tail->shard_count : 1); i++) {
                struct myr_fit_cost cost;
                if (q->zero >= 0 && q->zero != (int)zero) {
                    continue;
                }
                layout.shard = tail->shards[i];
                s->answer->costed++;
                if (q->exhaustive) {
                    myr_fit_cost_of(&q->it, &layout, &cost); /* nothing shared */
                } else {
                    fit_close(&q->it, &layout, &pipe, &cost);
                }
                if (cost.step_s < s->limit_s && fits(s, &layout)) {
                    keep(s, &layout, cost.step_s);
                }
            }
        }
    }
}

/* Time of the arithmetic and of what lies inside layers, whatever the rest chooses. */
static double bound_s(const struct myr_fit_query *q, const struct myr_layout *layout,
                      const struct shape *shape, const struct fit_blocks *blocks,
                      const double kinds[FIT_KIND_COUNT])
{
    const struct myr_model *model = q->it.model;
    double worst = 0, sum = 0, micro = q->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    double mtp = model->mtp_count;
    double output = (blocks->output.forward.total + blocks->output.backward.total) * (1 + mtp) +
                    mtp * kinds[blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL];
    double embedding = blocks->embedding.forward.total + blocks->embedding.backward.total;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        const struct stage_kind *stage = &shape->kinds[i];
        double time = micro + (stage->first ? embedding : 0) + (stage->last ? output : 0);
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            time += stage->layers[k] * kinds[k];
        }
        worst = fit_max(worst, time);
        sum += stage->count * time;
    }
    double m = (double)layout->global_batch / ((double)layout->dp * layout->micro_batch);
    return (m * worst + (sum - worst) * fit_bubble_share(layout)) * BOUND_SLACK;
}

static bool pipeline_fits(struct search *s, struct myr_layout layout)
{
    layout.zero = s->query->zero >= 0 ? (uint32_t)s->query->zero : 3;
    layout.shard = 0;
    return fits(s, &layout);
}

static bool schedule_allowed(const struct myr_fit_query *q, enum myr_schedule schedule)
{
    bool usual = schedule == MYR_SCHEDULE_1F1B || schedule == MYR_SCHEDULE_INTERLEAVED;
    return q->schedule < 0 ? usual : q->schedule == (int)schedule;
}

/* One width (tp, cp, ep, etp, sequence parallelism, micro-batch, recompute) on all pipelines. */
struct width {
    struct myr_layout layout;
    struct fit_blocks blocks;
    double kinds[FIT_KIND_COUNT];
    bool priced;
};

static void price_blocks(const struct myr_fit_query *q, struct width *w)
{
    fit_blocks_of(&q->it, &w->layout, &w->blocks);
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        const struct fit_layer *layer = &w->blocks.layers[k];
        w->kinds[k] = w->blocks.used[k] ? layer->forward.total + layer->backward.total : 0;
    }
    w->priced = true;
}

static void visit(struct search *s, struct width *w, const struct shape *shape,
                  const struct tail *tail, double straggler)
{
    const struct myr_fit_query *q = s->query;
    for (int schedule = 0; schedule <= MYR_SCHEDULE_DUALPIPE; schedule++) {
        bool interleaved = schedule == MYR_SCHEDULE_INTERLEAVED;
        w->layout.schedule = (enum myr_schedule)schedule;
        if (interleaved != (shape->vp > 1) || !schedule_allowed(q, w->layout.schedule) ||
            myr_layout_broken(&w->layout, q->it.model, q->gpus) != MYR_LAYOUT_OK) {
            continue;
        }
        s->answer->evaluated += tail_layouts(s, tail);
        if (schedule == MYR_SCHEDULE_DUALPIPE) {
            if (pipeline_fits(s, w->layout)) {
                price_tail(s, w->layout, tail, NULL);
            }
            continue;
        }
        if (!w->priced) {
            price_blocks(q, w);
        }
        double bound = bound_s(q, &w->layout, shape, &w->blocks, w->kinds) * (1 + straggler);
        if (q->exhaustive || (bound < s->limit_s && pipeline_fits(s, w->layout))) {
            price_tail(s, w->layout, tail, q->exhaustive ? NULL : &w->blocks);
        }
    }
}

static void visit_batches(struct search *s, struct myr_layout layout, const struct shape *shape,
                          const struct tail *tail, struct width *widths, double straggler)
{
    const struct myr_fit_query *q = s->query;
    uint32_t own = q->batch / layout.dp, at = 0;
    for (uint32_t b = 1; b <= MICRO_MAX; b++) {
        for (int r = MYR_RECOMPUTE_NONE; r <= MYR_RECOMPUTE_FULL; r++, at++) {
            /* With flash attention 'selective' is 'none'. */
            bool same = r == MYR_RECOMPUTE_SELECTIVE && layout.flash_attention;
            if (own % b != 0 || !allowed(q->micro_batch, b) ||
                (q->recompute >= 0 ? q->recompute != r : same)) {
                continue;
            }
            struct width *w = &widths[at];
            layout.micro_batch = b;
            layout.recompute = (enum myr_recompute)r;
            w->layout = layout;
            visit(s, w, shape, tail, straggler);
        }
    }
}

static void visit_grid(struct search *s, struct myr_layout layout)
{
    const struct myr_fit_query *q = s->query;
    struct width widths[MICRO_MAX * 3];
    struct tail tail;
    uint32_t tail_pp = 0;
    double straggler = 0;
    for (uint32_t i = 0; i < MICRO_MAX * 3; i++) {
        widths[i].priced = false;
    }
    for (uint32_t i = 0; i < s->shape_count; i++) {
        const struct shape *shape = &s->shapes[i];
        uint64_t ranks = (uint64_t)layout.tp * layout.cp * shape->pp;
        if (q->gpus % ranks != 0) {
            continue;
        }
        layout.pp = shape->pp;
        layout.vp = shape->vp;
        layout.dp = (uint32_t)(q->gpus / ranks);
        if (!allowed(q->dp, layout.dp) || q->batch % layout.dp != 0 ||
            (layout.tp * layout.cp * layout.dp) % (myr_layout_etp(&layout) * layout.ep) != 0) {
            continue;
        }
        if (tail_pp != shape->pp) {
            make_tail(s, layout, &tail);
            straggler = fit_straggler_share(&q->it, &layout);
            tail_pp = shape->pp;
        }
        visit_batches(s, layout, shape, &tail, widths, straggler);
    }
}

static void visit_experts(struct search *s, struct myr_layout layout)
{
    const struct myr_fit_query *q = s->query;
    uint32_t experts = q->it.model->moe.expert_count;
    for (uint32_t ep = 1; ep <= (experts ? experts : 1); ep++) {
        if ((experts && experts % ep != 0) || !allowed(q->ep, ep)) {
            continue;
        }
        layout.ep = ep;
        layout.etp = 0;
        visit_grid(s, layout);
        if (experts && layout.tp > 1) {
            layout.etp = 1;
            visit_grid(s, layout);
        }
    }
}

static void visit_all(struct search *s)
{
    const struct myr_fit_query *q = s->query;
    uint32_t domain = q->it.domain_gpus ? q->it.domain_gpus : q->it.device->domain_gpus;
    uint32_t tp_max = domain < TP_MAX ? domain : TP_MAX;
    struct myr_layout layout = myr_layout_default();
    layout.global_batch = q->batch;
    layout.seq_tokens = q->seq_tokens;
    layout.precision = q->precision;
    layout.flash_attention = q->it.stack->flash;
    layout.gradient_bytes = q->it.stack->era == MYR_ERA_NEMO ? 2 : 0;
    tp_max = q->tp > tp_max ? q->tp : tp_max;
    for (uint32_t tp = tp_max; tp >= 1; tp--) {
        if (q->gpus % tp != 0 || q->it.model->head_count % tp != 0 || !allowed(q->tp, tp)) {
            continue;
        }
        layout.tp = tp;
        for (uint32_t cp = 1; cp <= (q->cp > CP_MAX ? q->cp : CP_MAX); cp *= 2) {
            if (q->gpus % (tp * cp) != 0 || !allowed(q->cp, cp)) {
                continue;
            }
            layout.cp = cp;
            for (int sp = tp > 1 ? 1 : 0; sp >= 0; sp--) {
                layout.sequence_parallel = sp;
                if (q->sequence_parallel < 0 || q->sequence_parallel == sp || tp == 1) {
                    visit_experts(s, layout);
                }
            }
        }
    }
}

static int fail(const struct search *s, struct myr_err *err)
{
    const struct myr_fit_query *q = s->query;
    const struct myr_fit_answer *a = s->answer;
    int rc;
    if (a->has_nearest) {
        const struct myr_layout *l = &a->nearest;
        struct myr_fit_memory memory;
        myr_fit_memory_of(&q->it, l, &memory);
        rc =
            myr_err_set(err, MYR_EINFEASIBLE,
                        "%s does not fit on %u x %s: the nearest layout (tp %u, pp %u, cp %u, dp "
                        "%u, ep %u, ZeRO-%u, micro-batch %u) needs %.1f of %.1f GiB a GPU, most of "
                        "it %s",
                        q->it.model->name, q->gpus, q->it.device->name, l->tp, l->pp, l->cp, l->dp,
                        l->ep, l->zero, l->micro_batch, memory.total_bytes / 1073741824,
                        memory.limit_bytes / 1073741824, myr_fit_memory_term(&memory));
        double times = memory.total_bytes / memory.limit_bytes;
        uint32_t doubled = q->gpus;
        while (doubled < q->gpus * times) {
            doubled *= 2;
        }
        myr_err_hint(err, "about %u GPUs, or a device with more memory, would hold it", doubled);
        return rc;
    }
    rc = myr_err_set(err, MYR_EINFEASIBLE,
                     "no layout of %s uses exactly %u GPUs with a batch of %u sequences",
                     q->it.model->name, q->gpus, q->batch);
    uint32_t step = 8;
    uint32_t near = q->gpus < step ? step : q->gpus / step * step;
    while (near > step && q->batch % near != 0 && near % 64 != 0) {
        near -= step;
    }
    myr_err_hint(err,
                 "the batch must divide into data-parallel ranks, and tensor and pipeline ranks "
                 "must divide heads, layers and GPUs; try %u GPUs or a batch of %u",
                 near, q->batch < q->gpus ? q->gpus : q->batch / q->gpus * q->gpus);
    return rc;
}

int myr_fit_search(const struct myr_fit_query *query, struct myr_arena *arena,
                   struct myr_fit_answer *ret, struct myr_err *err)
{
    struct search s = {.query = query, .answer = ret, .limit_s = 1e30};
    MYR_ASSERT(query->top >= 1 && query->top <= MYR_FIT_TOP_MAX);
    *ret = (struct myr_fit_answer){0};
    make_shapes(&s, arena);
    visit_all(&s);
    return ret->top_count ? MYR_OK : fail(&s, err);
}
