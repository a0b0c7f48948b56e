#include <stdlib.h>
#include <sys/stat.h>

#include "myriad/sched/node_list.h"
#include "myriad/sched/place_answer.h"
#include "myriad/text/amount.h"

enum { KINDS_NAMED = 8 }; /* in a message */

/* A placing question on its way to its answer. */
struct asking {
    const struct myr_place_question *u;
    struct myr_arena *arena;
    struct myr_place_answer *a;
    const struct myr_doc *layout; /* what is in its file: standard input can be read once only */
};

/* Beside a pipe there is no table of contention, and it cannot be opened again. */
static bool is_plain_file(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

static uint64_t or_one(uint64_t given)
{
    return given ? given : 1;
}

static bool has_axes(const struct myr_place_question *u)
{
    return u->tp || u->pp || u->dp || u->cp || u->ep;
}

/*
 * A placing question becomes an answer in steps: the design gives the placer, the layout or the
 * options give the gang, the state's table fills the placer, and then the gang is placed, explained
 * and priced. Everything in the answer lives in the caller's arena or in what
 * myr_place_answer_done() frees.
 */

/* The design stays open: names of nodes come from it. */
static int open_design(struct asking *q, struct myr_err *err)
{
    struct myr_place_answer *a = q->a;
    if (!q->u->design) {
        int rc = myr_err_set(err, MYR_EINVAL, "give --design FILE");
        myr_err_hint(err, "myriad plan examples/h100-10k.yaml --out out writes out/design.myr");
        return rc;
    }
    MYR_TRY(myr_design_open(&a->design, q->u->design, err));
    MYR_TRY(myr_design_one_kind(&a->design, q->u->design, err));
    a->shape = myr_place_shape_of(&a->design);
    if (a->shape.gpus_per_node > MYR_SCHED_GPUS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: nodes of %u GPUs, expected at most %d",
                           q->u->design, a->shape.gpus_per_node, MYR_SCHED_GPUS_MAX);
    }
    a->placer = myr_placer_create(&a->shape);
    /* A design without scale-up beyond the node has domains of one node. */
    uint32_t domain = a->design.head->scale_up_gpus / a->shape.gpus_per_node;
    myr_placer_set_domain(a->placer, domain > 1 ? domain : 1);
    return MYR_OK;
}

/* Racks and rows where the design has a room plan; whether it has one. */
static bool set_zones(struct asking *q)
{
    const struct myr_design *d = &q->a->design;
    if (d->rack_count == 0 || !d->device_rack) {
        return false;
    }
    uint32_t *rack = MYR_ARENA_NEW(q->arena, uint32_t, d->head->nodes);
    uint32_t *row = MYR_ARENA_NEW(q->arena, uint32_t, d->head->nodes);
    /* A room may have more racks and rows than nodes: they are numbered as nodes come to them. */
    uint32_t *rack_number = MYR_ARENA_NEW(q->arena, uint32_t, d->rack_count);
    uint32_t *row_number = MYR_ARENA_NEW(q->arena, uint32_t, MYR_ROOM_SIDE_MAX);
    uint32_t racks = 0, rows = 0;
    for (uint32_t node = 0; node < d->head->nodes; node++) {
        uint32_t at = d->device_rack[d->head->first_node + node];
        /* A plan that names racks it does not have is taken as none. */
        if (at >= d->rack_count || d->racks[at].row >= MYR_ROOM_SIDE_MAX) {
            return false;
        }
        uint32_t *here = &rack_number[at], *line = &row_number[d->racks[at].row];
        *here = *here ? *here : ++racks;
        *line = *line ? *line : ++rows;
        rack[node] = *here - 1;
        row[node] = *line - 1;
    }
    myr_placer_set_zone(q->a->placer, MYR_ZONE_RACK, rack);
    myr_placer_set_zone(q->a->placer, MYR_ZONE_ROW, row);
    return true;
}

/* Spreading needs to know where nodes stand: from the state's table, else from the design. */
static int spread(struct asking *q, bool has_room_plan, struct myr_err *err)
{
    static const char *const names[MYR_ZONE_COUNT] = {"rack", "row"};
    const uint64_t most[MYR_ZONE_COUNT] = {q->u->rack_max, q->u->row_max};
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        if (most[z] && !has_room_plan && !q->a->state.has_zone[z]) {
            int rc = myr_err_set(err, MYR_EINVAL,
                                 "--%s-max: neither the design nor --state says in which %s a node "
                                 "stands",
                                 names[z], names[z]);
            myr_err_hint(err, "add a column to the state: node,rack,row");
            return rc;
        }
        q->a->request.zone_max[z] = (uint32_t)most[z];
    }
    return MYR_OK;
}

/* Names the first few kinds that there are where the one asked for is not. */
static int choose_kind(struct asking *q, struct myr_err *err)
{
    struct myr_str wanted = q->u->gpu_kind ? myr_str_from(q->u->gpu_kind) : MYR_STR("");
    MYR_CLEANUP(myr_buf_done) struct myr_buf known = {};
    if (wanted.len == 0) {
        return MYR_OK;
    }
    for (size_t i = 0; i < q->a->state.kinds.count; i++) {
        struct myr_str kind = q->a->state.kinds.items[i];
        if (myr_str_eq(kind, wanted)) {
            /* Kinds of the state are numbered from 1: 0 is a node without one. */
            q->a->request.kind_given = true;
            q->a->request.kind = (uint8_t)(i + 1);
            return MYR_OK;
        }
        if (i < KINDS_NAMED) {
            myr_buf_printf(&known, "%s%.*s", i ? ", " : "", (int)kind.len, kind.data);
        }
    }
    return myr_err_set(err, MYR_EINVAL, "--gpu-kind '%s': no node has it, expected %s",
                       q->u->gpu_kind, known.len ? known.data : "a column 'kind' in --state");
}

/*
 * GPUs that a gang takes of each node: as given, else all, else as many as its ranks fill on every
 * node (12 ranks on nodes of 8 GPUs: 6 of two), because the shares of a gang are alike.
 */
static uint32_t share_of(const struct asking *q, uint64_t ranks)
{
    uint32_t per = q->a->shape.gpus_per_node;
    if (q->u->gpus_per_node) {
        return (uint32_t)q->u->gpus_per_node;
    }
    /* Where nodes are given they say how many ranks each has; else the ranks do. */
    while (!q->u->nodes && ranks && ranks % per != 0) {
        per--;
    }
    return per;
}

/* The layout and the nodes do not go together: its file, where there is one, and its ranks. */
static int ranks_error(const struct asking *q, uint64_t ranks, struct myr_err *err)
{
    uint64_t nodes = q->u->nodes;
    uint32_t per = q->a->request.gpus_per_node;
    int rc = nodes ? myr_err_set(err, MYR_EINVAL, "the layout has %s, expected %llu on %s of %s",
                                 MYR_COUNT(ranks, "rank"), (unsigned long long)nodes * per,
                                 MYR_COUNT(nodes, "node"), MYR_COUNT(per, "GPU"))
                   : myr_err_set(err, MYR_EINVAL, "%s cannot fill nodes of %s",
                                 MYR_COUNT(ranks, "rank"), MYR_COUNT(per, "GPU"));
    return q->u->layout ? myr_err_wrap(err, "%s", q->u->layout) : rc;
}

/* Nodes follow from the layout where they are not given; both must agree. */
static int size_gang(struct asking *q, uint64_t ranks, struct myr_err *err)
{
    struct myr_request *r = &q->a->request;
    uint32_t per = q->a->shape.gpus_per_node, have = q->a->shape.nodes;
    if (q->u->gpus_per_node > per) {
        return myr_err_set(err, MYR_EINVAL, "--gpus-per-node %llu, the design's nodes have %u",
                           (unsigned long long)q->u->gpus_per_node, per);
    }
    r->gpus_per_node = share_of(q, ranks);
    uint64_t nodes = q->u->nodes ? q->u->nodes : ranks / r->gpus_per_node;
    if (!nodes && !ranks) {
        return myr_err_set(err, MYR_EINVAL, "give --nodes N, or a layout with --dp");
    }
    /* A layout and a number of nodes that both were given must agree. */
    if (ranks && ranks != nodes * r->gpus_per_node) {
        return ranks_error(q, ranks, err);
    }
    if (nodes > have) {
        return myr_err_set(err, MYR_EINVAL, "%s, the design has %u", MYR_COUNT(nodes, "node"),
                           have);
    }
    if (q->u->min_nodes > nodes) {
        return myr_err_set(err, MYR_EINVAL, "--min-nodes %llu, expected at most the gang's %llu",
                           (unsigned long long)q->u->min_nodes, (unsigned long long)nodes);
    }
    r->nodes = q->a->nodes_asked = (uint32_t)nodes;
    return MYR_OK;
}

/* How far apart, how many of a leaf, and what not to use. */
static int constrain(struct asking *q, struct myr_err *err)
{
    const struct myr_place_question *u = q->u;
    struct myr_request *r = &q->a->request;
    r->limited = u->limited;
    r->within = u->limited ? u->within : MYR_LEVEL_CORE;
    r->leaf_max = (uint32_t)u->leaf_max;
    if (u->hops) {
        /* One switch between two nodes under a leaf, three in a pod, five over the core. */
        r->limited = true;
        r->within = u->hops < 3 ? MYR_LEVEL_LEAF : u->hops < 5 ? MYR_LEVEL_POD : MYR_LEVEL_CORE;
    }
    if (!u->exclude) {
        return MYR_OK;
    }
    uint32_t nodes = q->a->shape.nodes;
    uint64_t *words = MYR_ARENA_NEW(q->arena, uint64_t, (size_t)nodes / 64 + 1);
    r->exclude = words;
    return myr_node_list_parse("--exclude", myr_str_from(u->exclude), nodes, words, err);
}

/* Four sequences a stage and replica keep a pipeline busy; where no batch is given. */
static uint32_t usual_batch(const struct myr_layout *layout)
{
    return layout->dp * layout->pp * 4;
}

/* The axes that were given, and whatever a layout has by default. */
static int plain_layout(struct asking *q, struct myr_err *err)
{
    const struct myr_place_question *u = q->u;
    struct myr_layout *l = &q->a->layout;
    uint64_t gpus = (uint64_t)q->a->request.nodes * q->a->request.gpus_per_node;
    uint64_t fixed = or_one(u->tp) * or_one(u->pp) * or_one(u->cp);
    *l = myr_layout_default();
    l->tp = (uint32_t)or_one(u->tp);
    l->pp = (uint32_t)or_one(u->pp);
    l->cp = (uint32_t)or_one(u->cp);
    l->ep = (uint32_t)or_one(u->ep);
    /* As layouts do by default where tensors are cut. */
    l->sequence_parallel = l->tp > 1;
    if (gpus % fixed != 0) {
        return myr_err_set(err, MYR_EINVAL, "gpus = %llu is no multiple of tp x cp x pp = %llu",
                           (unsigned long long)gpus, (unsigned long long)fixed);
    }
    if (gpus > MYR_LAYOUT_GPUS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "the layout has more than %u GPUs",
                           MYR_LAYOUT_GPUS_MAX);
    }
    /* Data parallelism is what the other axes leave. */
    l->dp = (uint32_t)(gpus / fixed);
    l->global_batch = u->batch ? (uint32_t)u->batch : usual_batch(l);
    /* Expert groups are made of data and context ranks. */
    if ((l->dp * l->cp) % l->ep != 0) {
        return myr_err_set(err, MYR_EINVAL, "ep %u does not divide dp x cp = %u", l->ep,
                           l->dp * l->cp);
    }
    return MYR_OK;
}

/* As 'fit' would be asked, so that both price the same layout in the same way. */
static struct myr_case_question case_question(const struct asking *q)
{
    const struct myr_place_question *u = q->u;
    const struct myr_layout *l = &q->a->layout;
    struct myr_case_question question = myr_case_question_default();
    question.model = u->model;
    question.device = u->device;
    question.software = u->software;
    question.recipe = u->recipe;
    question.profile = u->profile;
    if (is_plain_file(u->design)) {
        question.design = u->design;
    } else {
        question.planned = &q->a->design;
    }
    question.layout = u->layout;
    question.layout_doc = q->layout;
    question.gpus = (uint64_t)q->a->request.nodes * q->a->request.gpus_per_node;
    question.seq = u->seq;
    question.batch = u->batch;
    /* Axes of a layout file are in the file; they are not given twice. */
    if (!u->layout) {
        question.batch = l->global_batch;
        question.tp = l->tp;
        question.pp = l->pp;
        question.dp = l->dp;
        question.cp = l->cp;
        question.ep = l->ep;
    }
    return question;
}

/*
 * With a model: the layout of the file, or the best one with these axes. Where none of those fits
 * in memory the plain one is placed: the nodes are good advice all the same, and the answer says
 * that memory lacks.
 */
static int ask_case(struct asking *q, struct myr_err *err)
{
    struct myr_place_answer *a = q->a;
    struct myr_case_question question = case_question(q);
    struct myr_fit_answer best;
    int rc = myr_case_init(&a->it, q->arena, &question, err);
    if (rc < 0) {
        return rc;
    }
    a->has_model = true;
    if (a->it.has_layout) {
        a->layout = a->it.layout;
        return MYR_OK;
    }
    rc = myr_layout_check(&a->layout, &a->it.model, 0, err);
    if (rc < 0) {
        return rc;
    }
    /* That nothing fits is no error here, so its message is not the caller's. */
    struct myr_err none = {};
    rc = myr_case_answer(&a->it, q->arena, &best, &none);
    if (rc == MYR_OK) {
        a->layout = best.top[0].layout;
    } else if (rc != MYR_EINFEASIBLE) {
        return myr_err_set(err, rc, "%s", none.message);
    }
    return MYR_OK;
}

/* Options that only a model, or a layout made from its axes, has a use for. */
static int check_used(const struct myr_place_question *u, struct myr_err *err)
{
    const char *odd = u->model                                  ? NULL
                      : u->device                               ? "--device"
                      : u->seq                                  ? "--seq"
                      : u->batch && (u->layout || !has_axes(u)) ? "--batch"
                                                                : NULL;
    if (!odd) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "%s goes with --model", odd);
    myr_err_hint(err, "%s",
                 u->layout ? "--layout has the batch of its own job"
                           : "such as --model gpt3-175b --tp 8 --pp 8");
    return rc;
}

/* The layout and the size of the gang: each may follow from the other. */
static int find_layout(struct asking *q, struct myr_err *err)
{
    const struct myr_place_question *u = q->u;
    struct myr_place_answer *a = q->a;
    struct myr_layout file = {};
    uint64_t ranks = 0;
    a->has_layout = u->layout || has_axes(u);
    MYR_TRY(check_used(u, err));
    if (u->layout && u->dp + u->tp + u->pp + u->cp + u->ep > 0 && !u->model) {
        return myr_err_set(err, MYR_EINVAL, "--layout and its axes are both given");
    }
    if (u->model && !a->has_layout) {
        return myr_err_set(err, MYR_EINVAL,
                           "--model needs a layout: --layout, or --tp, --pp, --dp");
    }
    if (u->layout) {
        /* What the file leaves open follows from the nodes that were given. */
        uint64_t per = u->gpus_per_node ? u->gpus_per_node : a->shape.gpus_per_node;
        MYR_TRY(myr_layout_file_open(q->arena, u->layout, &q->layout, err));
        /* As 'fit' has it: replicas on all of the design where nobody says how many. */
        bool all = !u->nodes && !myr_doc_get(myr_doc_get(q->layout, "layout"), "dp");
        uint64_t nodes = all ? a->shape.nodes : u->nodes;
        struct myr_layout_rest rest = {nodes * per, u->batch, u->seq};
        MYR_TRY(myr_layout_file_take(q->layout, &rest, &file, err));
        ranks = myr_layout_gpus(&file);
    } else if (u->dp) {
        ranks = or_one(u->tp) * or_one(u->pp) * or_one(u->cp) * u->dp;
    }
    MYR_TRY(size_gang(q, ranks, err));
    if (!a->has_layout) {
        return MYR_OK;
    }
    /* All zero where there is no file. */
    a->layout = file;
    if (!u->layout) {
        MYR_TRY(plain_layout(q, err));
    }
    return u->model ? ask_case(q, err) : MYR_OK;
}

/* Again whenever the layout has changed. */
static int find_traffic(struct asking *q, struct myr_err *err)
{
    struct myr_place_answer *a = q->a;
    if (!a->has_layout) {
        return MYR_OK;
    }
    a->request.traffic = &a->traffic;
    return myr_job_traffic_of(&a->layout, a->has_model ? &a->it.model : NULL,
                              a->request.gpus_per_node, q->arena, &a->traffic, err);
}

/* The most nodes of at most so many that the layout allows; 0: none. */
static uint32_t allowed_nodes(const struct asking *q, uint32_t most, struct myr_layout *ret)
{
    const struct myr_place_answer *a = q->a;
    const struct myr_model *model = a->has_model ? &a->it.model : NULL;
    uint32_t per = a->request.gpus_per_node;
    if (!a->has_layout) {
        return most;
    }
    if (q->u->batch || q->u->layout) {
        return myr_layout_shrink(&a->layout, model, per, most, ret);
    }
    /* A batch that nobody gave follows the number of replicas. */
    uint64_t replica = (uint64_t)a->layout.tp * a->layout.cp * a->layout.pp;
    for (uint32_t nodes = most; nodes > 0; nodes--) {
        struct myr_layout fewer = a->layout;
        fewer.dp = (uint32_t)((uint64_t)nodes * per / replica);
        fewer.global_batch = usual_batch(&fewer);
        if (fewer.dp && myr_layout_shrink(&fewer, model, per, nodes, ret) == nodes) {
            return nodes;
        }
    }
    return 0;
}

/* An elastic gang takes as many nodes as fit now, between the least and what was asked for. */
static int shrink(struct asking *q, struct myr_err *err)
{
    struct myr_request *r = &q->a->request;
    struct myr_layout fewer = q->a->layout;
    if (!q->u->min_nodes || q->u->min_nodes >= r->nodes) {
        return MYR_OK;
    }
    uint32_t room = myr_request_size(q->a->placer, r);
    /* All that were asked for may have room; only below that the layout has to shrink. */
    uint32_t nodes = room < r->nodes ? allowed_nodes(q, room, &fewer) : r->nodes;
    if (nodes < q->u->min_nodes || nodes == r->nodes) {
        return MYR_OK;
    }
    r->nodes = nodes;
    q->a->layout = fewer;
    return find_traffic(q, err);
}

/* What the layout does not allow is no advice; the others stay sorted by what they disturb. */
static void check_advice(struct asking *q)
{
    struct myr_reasons *why = &q->a->why;
    struct myr_layout fewer;
    uint32_t left = 0;
    for (uint32_t i = 0; i < why->change_count; i++) {
        struct myr_change change = why->changes[i];
        if (change.kind == MYR_CHANGE_FEWER_NODES) {
            /*
             * Fewer nodes is advice only where the layout has a form for them, and then maybe fewer
             * still.
             */
            uint32_t nodes = allowed_nodes(q, q->a->request.nodes - change.nodes, &fewer);
            change.nodes = q->a->request.nodes - nodes;
            change.size = change.nodes;
            if (nodes == 0) {
                continue;
            }
        }
        uint32_t at = left++;
        for (; at > 0 && why->changes[at - 1].size > change.size; at--) {
            why->changes[at] = why->changes[at - 1];
        }
        why->changes[at] = change;
    }
    why->change_count = left;
}

/* With a model only: the step on these nodes, and the step at its best. */
static int price(struct asking *q, struct myr_err *err)
{
    struct myr_place_answer *a = q->a;
    if (!a->has_model || !a->placed) {
        return MYR_OK;
    }
    uint32_t count = a->placement.gang.count;
    uint32_t *nodes = MYR_ARENA_NEW(q->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        /* In rank order: that is what the step depends on. */
        nodes[i] = a->placement.gang.shares[i].node;
    }
    struct myr_fit_placement placement = {nodes, count, a->request.gpus_per_node};
    MYR_TRY(myr_case_price(&a->it, &a->layout, &placement, q->arena, &a->price, err));
    /* Without a placement: ranks along the fabric from its first node on. */
    MYR_TRY(myr_case_price(&a->it, &a->layout, NULL, q->arena, &a->best_price, err));
    /* Both are of one model: what these nodes give is at most the best. */
    a->best_price = a->price.cost.step_s < a->best_price.cost.step_s ? a->price : a->best_price;
    return MYR_OK;
}

/* The lines of a text as a list, without their ends. */
static void take_sentences(struct asking *q, const struct myr_buf *lines)
{
    uint32_t count = 0;
    for (size_t i = 0; i < lines->len; i++) {
        count += lines->data[i] == '\n';
    }
    q->a->sentences = MYR_ARENA_NEW(q->arena, const char *, count);
    for (size_t at = 0; at < lines->len;) {
        const char *end = memchr(lines->data + at, '\n', lines->len - at);
        size_t len = end ? (size_t)(end - lines->data) - at : lines->len - at;
        q->a->sentences[q->a->sentence_count++] =
            myr_arena_strndup(q->arena, lines->data + at, len);
        at += len + 1;
    }
    MYR_ASSERT(q->a->sentence_count == count);
}

/* Explained, placed and put into words, in this order. */
static void place(struct asking *q)
{
    struct myr_place_answer *a = q->a;
    MYR_CLEANUP(myr_buf_done) struct myr_buf lines = {};
    /* Before the gang takes its nodes: why it lies where it does depends on what was free. */
    myr_explain(a->placer, &a->request, a->state.jobs.items, (uint32_t)a->state.jobs.count,
                &a->why);
    check_advice(q);
    a->placement.gang.shares = MYR_ARENA_NEW(q->arena, struct myr_share, a->request.nodes);
    int64_t start_ns = q->u->clock_ns ? q->u->clock_ns() : 0;
    a->placed = myr_place_gang(a->placer, &a->request, &a->placement);
    a->took_ns = q->u->clock_ns ? q->u->clock_ns() - start_ns : 0;
    a->best_groups_cost = myr_place_cost_best(a->placer, &a->request);
    /* The search on the empty cluster is no proof: what was found here is no worse than the best.
     */
    if (a->placed && a->placement.cost.groups < a->best_groups_cost) {
        a->best_groups_cost = a->placement.cost.groups;
    }
    /* Without a layout every node sends one byte. */
    a->unit_bytes =
        a->has_layout && a->traffic.between_bytes > 0 ? a->traffic.between_bytes : a->request.nodes;
    if (a->has_layout && !q->u->nodes && !q->u->gpus_per_node &&
        a->request.gpus_per_node < a->shape.gpus_per_node) {
        myr_buf_printf(&lines, "%s cannot fill nodes of %s: %u of each %s taken.\n",
                       MYR_COUNT(myr_layout_gpus(&a->layout), "rank"),
                       MYR_COUNT(a->shape.gpus_per_node, "GPU"), a->request.gpus_per_node,
                       a->request.gpus_per_node == 1 ? "is" : "are");
    }
    if (a->has_model && a->it.design_gpu) {
        myr_buf_printf(&lines, "The step is that of %s, as --device says; the design has %s.\n",
                       a->it.query.it.device->name, a->it.design_gpu);
    }
    myr_explain_write(a->placer, &a->request, &a->why, a->placed ? &a->placement.cost : NULL,
                      &lines);
    take_sentences(q, &lines);
}

/* Each step needs those before it; the state is read late because nodes have to be known. */
static int ask(struct asking *q, struct myr_err *err)
{
    MYR_TRY(open_design(q, err));
    /* Before the state is read: what its table says of racks and rows replaces the design's. */
    bool has_room_plan = set_zones(q);
    MYR_TRY(find_layout(q, err));
    MYR_TRY(constrain(q, err));
    MYR_TRY(find_traffic(q, err));
    if (q->u->state) {
        MYR_TRY(myr_sched_state_read(&q->a->state, q->a->placer, q->u->state, err));
    }
    MYR_TRY(spread(q, has_room_plan, err));
    MYR_TRY(choose_kind(q, err));
    MYR_TRY(shrink(q, err));
    place(q);
    return price(q, err);
}

int myr_place_ask(const struct myr_place_question *question, struct myr_arena *arena,
                  struct myr_place_answer *ret, struct myr_err *err)
{
    *ret = (struct myr_place_answer){};
    struct asking q = {question, arena, ret, NULL};
    int rc = ask(&q, err);
    if (rc < 0) {
        /* Nothing is left for the caller to free. */
        myr_place_answer_done(ret);
    }
    return rc;
}

void myr_place_answer_done(struct myr_place_answer *answer)
{
    myr_case_done(&answer->it);
    myr_sched_state_done(&answer->state);
    myr_placer_free(answer->placer);
    myr_design_close(&answer->design);
    answer->placer = NULL;
}
