/* sched place: one gang on a design in a given state: nodes, rank order, cost, and why. */
#include <stdio.h>
#include <stdlib.h>

#include "myriad/fit.h"
#include "sched.h"

const char *const cli_sched_levels[5] = {"any", "domain", "leaf", "pod", "core"};

enum { KINDS_NAMED = 8 }; /* in a message */

struct asked {
    const struct cli_sched_question *u;
    struct myr_arena arena;
    struct myr_design design;
    struct myr_placer *placer;
    struct myr_sched_state state;
    struct myr_model model;
    struct myr_layout layout;
    struct myr_job_traffic traffic;
    struct myr_profiles profiles;
    struct myr_request request;
    struct myr_placement placement;
    struct myr_reasons why;
    bool has_layout, has_model, has_step, has_room, placed;
    double step_s, best_step_s, best_cost;
    int64_t took_ns;
};

/* A list such as 3,7-9 into the bits of 'ret'. */
static int read_nodes(struct asked *a, struct myr_str text, uint64_t *ret, struct myr_err *err)
{
    uint32_t nodes = a->design.head->nodes;
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && text.data[end] != ',') {
            end++;
        }
        struct myr_str item = {text.data + at, end - at};
        size_t dash = 0;
        while (dash < item.len && item.data[dash] != '-') {
            dash++;
        }
        uint64_t first = 0, last = 0;
        bool good = myr_str_to_u64((struct myr_str){item.data, dash}, &first);
        last = first;
        if (good && dash < item.len) {
            good =
                myr_str_to_u64((struct myr_str){item.data + dash + 1, item.len - dash - 1}, &last);
        }
        if (!good || last < first || last >= nodes) {
            return myr_err_set(err, MYR_EINVAL,
                               "--exclude: '%.*s' is no node or range, expected such as 3,7-9 "
                               "below %u",
                               (int)item.len, item.data, nodes);
        }
        for (uint64_t node = first; node <= last; node++) {
            ret[node / 64] |= UINT64_C(1) << node % 64;
        }
        at = end + 1;
    }
    return MYR_OK;
}

static int read_layout(struct asked *a, struct myr_err *err)
{
    const struct cli_sched_question *u = a->u;
    a->has_layout = u->tp || u->pp || u->dp || u->cp || u->ep;
    a->has_model = u->model != NULL;
    if (a->has_model && !a->has_layout) {
        return myr_err_set(err, MYR_EINVAL, "--model needs a layout: --tp, --pp, --dp");
    }
    if (!a->has_layout) {
        return MYR_OK;
    }
    struct myr_layout *l = &a->layout;
    *l = myr_layout_default();
    l->tp = u->tp ? (uint32_t)u->tp : 1;
    l->pp = u->pp ? (uint32_t)u->pp : 1;
    l->cp = u->cp ? (uint32_t)u->cp : 1;
    l->ep = u->ep ? (uint32_t)u->ep : 1;
    l->sequence_parallel = l->tp > 1;
    uint64_t fixed = (uint64_t)l->tp * l->pp * l->cp;
    uint64_t gpus = (uint64_t)a->request.nodes * a->request.gpus_per_node;
    if (!u->dp && gpus % fixed != 0) {
        return myr_err_set(err, MYR_EINVAL, "%llu GPUs are no multiple of tp x cp x pp = %llu",
                           (unsigned long long)gpus, (unsigned long long)fixed);
    }
    l->dp = u->dp ? (uint32_t)u->dp : (uint32_t)(gpus / fixed);
    if (fixed * l->dp > MYR_LAYOUT_GPUS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "the layout has more than %u GPUs",
                           MYR_LAYOUT_GPUS_MAX);
    }
    l->global_batch = u->batch ? (uint32_t)u->batch : l->dp * l->pp * 4;
    if (a->has_model) {
        int r = myr_model_find(&a->arena, u->model, &a->model, err);
        return r < 0 ? r : myr_layout_check(l, &a->model, 0, err);
    }
    if (l->ep > 1 && (l->dp * l->cp) % l->ep != 0) {
        return myr_err_set(err, MYR_EINVAL, "ep %u does not divide dp x cp = %u", l->ep,
                           l->dp * l->cp);
    }
    return MYR_OK;
}

/* Nodes follow from the layout where they are not given; both must agree. */
static int size_gang(struct asked *a, struct myr_err *err)
{
    const struct cli_sched_question *u = a->u;
    struct myr_request *r = &a->request;
    uint32_t per = a->design.head->gpus_per_node;
    r->gpus_per_node = u->gpus_per_node ? (uint32_t)u->gpus_per_node : per;
    r->nodes = (uint32_t)u->nodes;
    if (r->gpus_per_node > per) {
        return myr_err_set(err, MYR_EINVAL, "--gpus-per-node %u, the design's nodes have %u",
                           r->gpus_per_node, per);
    }
    uint64_t layout = (uint64_t)(u->tp ? u->tp : 1) * (u->pp ? u->pp : 1) * (u->cp ? u->cp : 1) *
                      (u->dp ? u->dp : 1);
    if (!r->nodes && u->dp) {
        if (layout % r->gpus_per_node != 0) {
            return myr_err_set(err, MYR_EINVAL, "%llu ranks do not fill nodes of %u GPUs",
                               (unsigned long long)layout, r->gpus_per_node);
        }
        r->nodes = layout / r->gpus_per_node > UINT32_MAX ? UINT32_MAX
                                                          : (uint32_t)(layout / r->gpus_per_node);
    }
    if (!r->nodes) {
        return myr_err_set(err, MYR_EINVAL, "give --nodes N, or a layout with --dp");
    }
    if (u->dp && layout != (uint64_t)r->nodes * r->gpus_per_node) {
        return myr_err_set(err, MYR_EINVAL,
                           "the layout has %llu ranks, %u nodes of %u GPUs have "
                           "%llu",
                           (unsigned long long)layout, r->nodes, r->gpus_per_node,
                           (unsigned long long)r->nodes * r->gpus_per_node);
    }
    if (r->nodes > a->design.head->nodes) {
        return myr_err_set(err, MYR_EINVAL, "%u nodes, the design has %u", r->nodes,
                           a->design.head->nodes);
    }
    return MYR_OK;
}

static int constrain(struct asked *a, struct myr_err *err)
{
    const struct cli_sched_question *u = a->u;
    struct myr_request *r = &a->request;
    r->limited = u->within > 0;
    r->within = r->limited ? (enum myr_level)(u->within - 1) : MYR_LEVEL_CORE;
    r->leaf_max = (uint32_t)u->leaf_max;
    if (u->hops) {
        /* One switch between two nodes under a leaf, three in a pod, five over the core. */
        r->limited = true;
        r->within = u->hops < 3 ? MYR_LEVEL_LEAF : u->hops < 5 ? MYR_LEVEL_POD : MYR_LEVEL_CORE;
    }
    if (!u->exclude) {
        return MYR_OK;
    }
    uint64_t *words = MYR_ARENA_NEW(&a->arena, uint64_t, (size_t)a->design.head->nodes / 64 + 1);
    r->exclude = words;
    return read_nodes(a, myr_str_from(u->exclude), words, err);
}

/* Racks and rows where the design has a room plan. */
static void set_zones(struct asked *a)
{
    const struct myr_design *d = &a->design;
    if (d->rack_count == 0 || !d->device_rack) {
        return;
    }
    uint32_t *rack = MYR_ARENA_NEW(&a->arena, uint32_t, d->head->nodes);
    uint32_t *row = MYR_ARENA_NEW(&a->arena, uint32_t, d->head->nodes);
    for (uint32_t node = 0; node < d->head->nodes; node++) {
        uint32_t at = d->device_rack[d->head->first_node + node];
        if (at >= d->rack_count || at >= d->head->nodes || d->racks[at].row >= d->head->nodes) {
            return;
        }
        rack[node] = at;
        row[node] = d->racks[at].row;
    }
    myr_placer_set_zone(a->placer, MYR_ZONE_RACK, rack);
    myr_placer_set_zone(a->placer, MYR_ZONE_ROW, row);
    a->has_room = true;
}

/* Spreading needs to know where nodes stand: from the state's table, else from the design. */
static int spread(struct asked *a, struct myr_err *err)
{
    static const char *const names[MYR_ZONE_COUNT] = {"rack", "row"};
    const uint64_t most[MYR_ZONE_COUNT] = {a->u->rack_max, a->u->row_max};
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        if (most[z] && !a->has_room && !a->state.has_zone[z]) {
            int r = myr_err_set(err, MYR_EINVAL,
                                "--%s-max: neither the design nor --state says in which %s a node "
                                "stands",
                                names[z], names[z]);
            myr_err_hint(err, "add a column to the state: node,rack,row");
            return r;
        }
        a->request.zone_max[z] = (uint32_t)most[z];
    }
    return MYR_OK;
}

static int choose_kind(struct asked *a, struct myr_err *err)
{
    struct myr_str wanted = a->u->gpu_kind ? myr_str_from(a->u->gpu_kind) : MYR_STR("");
    struct myr_buf known = {0};
    if (wanted.len == 0) {
        return MYR_OK;
    }
    for (size_t i = 0; i < a->state.kinds.count; i++) {
        struct myr_str kind = a->state.kinds.items[i];
        if (myr_str_eq(kind, wanted)) {
            a->request.kind_given = true;
            a->request.kind = (uint8_t)(i + 1);
            myr_buf_done(&known);
            return MYR_OK;
        }
        if (i < KINDS_NAMED) {
            myr_buf_printf(&known, "%s%.*s", i ? ", " : "", (int)kind.len, kind.data);
        }
    }
    int r = myr_err_set(err, MYR_EINVAL, "--gpu-kind '%s': no node has it, expected %s",
                        a->u->gpu_kind, known.len ? known.data : "a column 'kind' in --state");
    myr_buf_done(&known);
    return r;
}

/* What a byte takes longer on its level than under a leaf: uplinks thinner than downlinks. */
static double slowness(const struct asked *a, const double *bytes)
{
    const struct myr_network *net = &a->design.networks[MYR_NET_COMPUTE];
    double leaf = net->oversubscription_milli[0] > 1000 ? net->oversubscription_milli[0] / 1e3 : 1;
    double spine = net->oversubscription_milli[1] > 1000 ? net->oversubscription_milli[1] / 1e3 : 1;
    double all = 0, sum = 0;
    const double factor[MYR_LEVEL_COUNT] = {1, 1, leaf, leaf * spine};
    for (int level = 0; level < MYR_LEVEL_COUNT; level++) {
        all += bytes[level];
        sum += bytes[level] * factor[level];
    }
    return all > 0 ? sum / all : 1;
}

/* Step time with the NICs as fast as this placement lets them be, and at their best. */
static int predict(struct asked *a, struct myr_err *err)
{
    const struct cli_sched_question *u = a->u;
    struct myr_fit_case it = {.model = &a->model};
    struct myr_fit_cost cost;
    bool exact;
    if (!a->has_model || !u->device) {
        return MYR_OK;
    }
    int r = myr_profiles_init(&a->profiles, &a->arena, err);
    r = r < 0 ? r : myr_profiles_device(&a->profiles, myr_str_from(u->device), &it.device, err);
    r = r < 0 ? r : myr_profiles_stack(&a->profiles, MYR_STR("NeMo 25.05"), &it.stack, &exact, err);
    if (r < 0) {
        return r;
    }
    it.constants = a->profiles.constants;
    it.domain_gpus = a->design.head->scale_up_gpus;
    double gbps = it.device->nic_gbps;
    myr_fit_cost_of(&it, &a->layout, &cost);
    a->best_step_s = cost.step_s;
    it.nic_gbps = gbps / slowness(a, a->placement.cost.bytes_by_level);
    myr_fit_cost_of(&it, &a->layout, &cost);
    a->step_s = cost.step_s;
    a->has_step = true;
    return MYR_OK;
}

static int prepare(struct asked *a, struct myr_err *err)
{
    if (!a->u->design) {
        int r = myr_err_set(err, MYR_EINVAL, "give --design FILE");
        myr_err_hint(err, "myriad plan examples/h100-10k.yaml --out out writes out/design.myr");
        return r;
    }
    int r = myr_design_open(&a->design, a->u->design, err);
    if (r < 0) {
        return r;
    }
    struct myr_place_shape shape = myr_place_shape_of(&a->design);
    if (shape.gpus_per_node > MYR_SCHED_GPUS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "nodes with more than %d GPUs", MYR_SCHED_GPUS_MAX);
    }
    a->placer = myr_placer_create(&shape);
    uint32_t domain = a->design.head->scale_up_gpus / shape.gpus_per_node;
    myr_placer_set_domain(a->placer, domain > 1 ? domain : 1);
    set_zones(a);
    r = size_gang(a, err);
    r = r < 0 ? r : constrain(a, err);
    r = r < 0 ? r : read_layout(a, err);
    if (r == MYR_OK && a->has_layout) {
        r = myr_job_traffic_of(&a->layout, a->has_model ? &a->model : NULL,
                               a->request.gpus_per_node, &a->arena, &a->traffic, err);
        a->request.traffic = &a->traffic;
    }
    if (r == MYR_OK && a->u->state) {
        r = myr_sched_state_read(&a->state, a->placer, a->u->state, err);
    }
    r = r < 0 ? r : spread(a, err);
    return r < 0 ? r : choose_kind(a, err);
}

static void put_changes(struct myr_json *json, const struct myr_reasons *why)
{
    myr_json_list(json, "changes");
    for (uint32_t i = 0; i < why->change_count; i++) {
        const struct myr_change *c = &why->changes[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "kind", myr_change_name(c->kind));
        if (c->nodes) {
            myr_json_u64(json, "nodes", c->nodes);
        }
        if (c->kind == MYR_CHANGE_FREE_NODES || c->kind == MYR_CHANGE_DEFRAGMENT) {
            myr_json_text(json, "level", myr_level_name(c->level));
            myr_json_u64(json, "unit", c->unit);
        }
        if (c->kind == MYR_CHANGE_DEFRAGMENT) {
            myr_json_u64(json, "migrations", c->migrations);
            myr_json_u64(json, "gpus_moved", c->gpus_moved);
            myr_json_double(json, "gpu_hours_lost", c->gpu_hours, 2);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_cost(struct myr_json *json, const struct asked *a)
{
    const struct myr_place_cost *cost = &a->placement.cost;
    myr_json_object(json, "cost");
    myr_json_double(json, "total", cost->total, 1);
    myr_json_double(json, "groups", cost->groups, 1);
    myr_json_double(json, "fragmentation", cost->fragmentation, 1);
    myr_json_double(json, "penalty", cost->penalty, 1);
    myr_json_double(json, "groups_best_possible", a->best_cost, 1);
    myr_json_object(json, "bytes_by_level");
    for (int level = 0; level < MYR_LEVEL_COUNT; level++) {
        myr_json_double(json, myr_level_name((enum myr_level)level), cost->bytes_by_level[level],
                        0);
    }
    myr_json_end(json);
    myr_json_end(json);
    myr_json_text(json, "level", myr_level_name(cost->level));
    myr_json_u64(json, "leaves", cost->leaves);
    myr_json_u64(json, "pods", cost->pods);
    if (a->has_step) {
        myr_json_double(json, "step_s", a->step_s, 6);
        myr_json_double(json, "best_step_s", a->best_step_s, 6);
    }
}

static void put_ranks(struct myr_json *json, const struct asked *a)
{
    struct myr_buf name = {0};
    myr_json_list(json, "ranks");
    for (uint32_t i = 0; i < a->placement.gang.count; i++) {
        const struct myr_share *share = &a->placement.gang.shares[i];
        myr_buf_clear(&name);
        myr_design_name(&a->design, a->design.head->first_node + share->node, &name);
        myr_json_object(json, NULL);
        myr_json_u64(json, "first_rank", (uint64_t)i * a->request.gpus_per_node);
        myr_json_str(json, "node", (struct myr_str){name.data, name.len});
        myr_json_u64(json, "index", share->node);
        myr_json_list(json, "gpus");
        for (uint32_t gpu = 0; gpu < MYR_SCHED_GPUS_MAX; gpu++) {
            if (share->gpus >> gpu & 1) {
                myr_json_u64(json, NULL, gpu);
            }
        }
        myr_json_end(json);
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_buf_done(&name);
}

static void put_sentences(struct myr_json *json, const struct myr_buf *lines)
{
    myr_json_list(json, "explanation");
    for (size_t at = 0; at < lines->len;) {
        size_t end = at;
        while (end < lines->len && lines->data[end] != '\n') {
            end++;
        }
        myr_json_str(json, NULL, (struct myr_str){lines->data + at, end - at});
        at = end + 1;
    }
    myr_json_end(json);
}

static void put_json(const struct asked *a, const struct myr_buf *lines, struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_bool(&json, "placed", a->placed);
    myr_json_u64(&json, "nodes", a->request.nodes);
    myr_json_u64(&json, "gpus_per_node", a->request.gpus_per_node);
    myr_json_double(&json, "decision_us", (double)a->took_ns / 1000, 1);
    if (a->placed) {
        put_cost(&json, a);
        put_ranks(&json, a);
    }
    put_sentences(&json, lines);
    put_changes(&json, &a->why);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_text(const struct asked *a, const struct myr_buf *lines, struct myr_buf *buf)
{
    const struct myr_place_cost *cost = &a->placement.cost;
    myr_buf_put(buf, lines->data ? lines->data : "", lines->len);
    if (!a->placed) {
        return;
    }
    double unit =
        a->has_layout && a->traffic.between_bytes > 0 ? a->traffic.between_bytes : a->request.nodes;
    myr_buf_printf(buf,
                   "cost %.3f a byte sent (best possible %.3f), fragmentation %.3f, "
                   "penalties %.3f\n",
                   cost->groups / unit, a->best_cost / unit, cost->fragmentation / unit,
                   cost->penalty / unit);
    if (a->has_step) {
        myr_buf_printf(buf, "step %.3f s, at best %.3f s\n", a->step_s, a->best_step_s);
    }
    for (uint32_t i = 0; i < a->placement.gang.count; i++) {
        const struct myr_share *share = &a->placement.gang.shares[i];
        uint64_t rank = (uint64_t)i * a->request.gpus_per_node;
        myr_buf_printf(buf, "ranks %llu-%llu  ", (unsigned long long)rank,
                       (unsigned long long)rank + a->request.gpus_per_node - 1);
        myr_design_name(&a->design, a->design.head->first_node + share->node, buf);
        myr_buf_putc(buf, '\n');
    }
}

/* As many nodes as fit, between --min-nodes and --nodes, in steps that the layout allows. */
static int shrink(struct asked *a, struct myr_err *err)
{
    uint32_t least = (uint32_t)a->u->min_nodes;
    if (!least || least >= a->request.nodes) {
        return MYR_OK;
    }
    uint32_t step = 1, size;
    if (a->has_layout) {
        uint64_t cell = (uint64_t)a->layout.tp * a->layout.pp * a->layout.cp;
        step = (uint32_t)(cell / a->request.gpus_per_node);
        step = step ? step : 1;
    }
    size = myr_request_size(a->placer, &a->request) / step * step;
    if (size < least || size >= a->request.nodes) {
        return MYR_OK;
    }
    a->request.nodes = size;
    if (a->has_layout) {
        a->layout.dp = (uint32_t)((uint64_t)size * a->request.gpus_per_node /
                                  ((uint64_t)a->layout.tp * a->layout.pp * a->layout.cp));
        return myr_job_traffic_of(&a->layout, a->has_model ? &a->model : NULL,
                                  a->request.gpus_per_node, &a->arena, &a->traffic, err);
    }
    return MYR_OK;
}

static int answer(struct asked *a, struct myr_buf *buf, struct myr_err *err)
{
    struct myr_buf lines = {0};
    int r = shrink(a, err);
    if (r < 0) {
        return r;
    }
    myr_explain(a->placer, &a->request, a->state.jobs.items, (uint32_t)a->state.jobs.count,
                &a->why);
    a->placement.gang.shares = MYR_ARENA_NEW(&a->arena, struct myr_share, a->request.nodes);
    int64_t start = myr_clock_ns();
    a->placed = myr_place_gang(a->placer, &a->request, &a->placement);
    a->took_ns = myr_clock_ns() - start;
    a->best_cost = myr_place_cost_best(a->placer, &a->request);
    r = a->placed ? predict(a, err) : MYR_OK;
    if (r == MYR_OK) {
        myr_explain_write(a->placer, &a->request, &a->why, a->placed ? &a->placement.cost : NULL,
                          &lines);
        if (a->u->format == MYR_FORMAT_JSON) {
            put_json(a, &lines, buf);
        } else {
            put_text(a, &lines, buf);
        }
    }
    myr_buf_done(&lines);
    if (r == MYR_OK && a->placed && a->u->plot) {
        struct cli_sched_placed placed = {.design = &a->design,
                                          .shape = myr_place_shape_of(&a->design),
                                          .placer = a->placer,
                                          .gang = &a->placement.gang,
                                          .cost = &a->placement.cost,
                                          .gpus_per_node = a->request.gpus_per_node,
                                          .stages = a->has_layout ? a->layout.pp : 0};
        r = cli_sched_draw(a->u->plot, &placed, err);
    }
    return r < 0 ? r : a->placed;
}

int cli_sched_place(const struct cli_sched_question *question, struct myr_buf *buf,
                    struct myr_err *err)
{
    struct asked *a = myr_xcalloc(1, sizeof(*a));
    a->u = question;
    myr_arena_init(&a->arena);
    int r = prepare(a, err);
    r = r < 0 ? r : answer(a, buf, err);
    myr_sched_state_done(&a->state);
    myr_placer_free(a->placer);
    myr_design_close(&a->design);
    myr_arena_done(&a->arena);
    free(a);
    return r;
}
