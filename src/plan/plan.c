#include "myriad/plan.h"

#include <stdarg.h>
#include <stdio.h>

#include "plan_internal.h"

uint32_t plan_string(struct plan *plan, const char *text)
{
    struct myr_str key = myr_str_from(text);
    uint32_t known = myr_strmap_get(&plan->string_index, key);
    if (known != MYR_MAP_NONE) {
        return known;
    }
    uint32_t offset = (uint32_t)plan->strings.len;
    /* The buffer moves when it grows: the index needs a copy of its own. */
    key.data = myr_arena_strndup(plan->arena, key.data, key.len);
    myr_strmap_add(&plan->string_index, key, offset);
    myr_buf_put(&plan->strings, text, key.len);
    myr_buf_putc(&plan->strings, '\0');
    return offset;
}

static bool accepted(const struct plan *plan, const char *rule)
{
    for (size_t i = 0; i < plan->spec->accept.count; i++) {
        if (strcmp(plan->spec->accept.items[i], rule) == 0) {
            return true;
        }
    }
    return false;
}

void plan_finding(struct plan *plan, enum myr_severity severity, const char *rule,
                  const char *where, const char *remedy, const char *fmt, ...)
{
    char message[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    struct myr_finding finding = {
        .rule = plan_string(plan, rule),
        .where = plan_string(plan, where),
        .message = plan_string(plan, message),
        .remedy = plan_string(plan, remedy),
        .severity = (uint8_t)severity,
        .accepted = accepted(plan, rule),
    };
    for (size_t i = 0; i < plan->findings.count; i++) {
        const struct myr_finding *old = &plan->findings.items[i];
        if (old->rule == finding.rule && old->where == finding.where &&
            old->message == finding.message) {
            return; /* the same part may be met twice */
        }
    }
    myr_vec_push(&plan->findings, finding);
}

static int size_net(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    switch (net->out.topology) {
    case MYR_TOPOLOGY_ACCESS:
        return plan_size_access(plan, net, err);
    case MYR_TOPOLOGY_DRAGONFLY:
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        return plan_size_dragonfly(plan, net, err);
    case MYR_TOPOLOGY_TORUS:
        return plan_size_torus(plan, net, err);
    default:
        return plan_size_clos(plan, net, err);
    }
}

static void fill_head(struct plan *plan)
{
    struct myr_design_head *head = plan->design.head;
    const struct myr_part_server *server = &plan->server->server;
    const char *currency = "CNY";
    for (size_t i = 0; plan->spec->price_book && i < plan->catalog->books.count; i++) {
        if (strcmp(plan->catalog->books.items[i].id, plan->spec->price_book) == 0) {
            currency = plan->catalog->books.items[i].currency;
        }
    }
    uint32_t gpu = myr_catalog_find(plan->catalog, myr_str_from(server->gpu));
    uint64_t raw_gb = (uint64_t)(plan->storage_raw_tb * 1000 + 0.5);
    uint64_t usable_gb = (uint64_t)(plan->storage_usable_tb * 1000 + 0.5);
    head->name = plan_string(plan, plan->spec->name);
    head->currency = plan_string(plan, currency);
    head->price_book = plan_string(plan, plan->spec->price_book ? plan->spec->price_book : "");
    head->servers = plan->spec->servers;
    head->nodes = plan->nodes;
    head->gpus = plan->nodes * server->gpus_per_node;
    head->nodes_per_server = server->nodes;
    head->gpus_per_node = server->gpus_per_node;
    head->scale_up_gpus = server->scale_up_gpus ? server->scale_up_gpus : 1;
    head->scale_up_gbps = server->scale_up_gbps;
    head->server_part = plan_string(plan, plan->server->id);
    head->gpu_part = plan_string(plan, part_at(plan, gpu)->id);
    head->storage_servers = plan->storage_servers;
    head->management_nodes = plan->management_nodes;
    head->fabric_managers = plan->managers;
    head->storage_raw_gb_high = (uint32_t)(raw_gb >> 32);
    head->storage_raw_gb_low = (uint32_t)raw_gb;
    head->storage_usable_gb_high = (uint32_t)(usable_gb >> 32);
    head->storage_usable_gb_low = (uint32_t)usable_gb;
}

/* Names in 'accept' that nothing answers to are most likely typing errors. */
static void check_accepts(struct plan *plan)
{
    for (size_t i = 0; i < plan->spec->accept.count; i++) {
        const char *name = plan->spec->accept.items[i];
        bool met = false;
        for (size_t k = 0; k < plan->findings.count; k++) {
            met = met || strcmp(plan->strings.data + plan->findings.items[k].rule, name) == 0;
        }
        if (!met) {
            plan_finding(plan, MYR_SEVERITY_INFO, "accept-unused", name,
                         "remove it from 'accept' or mend the name",
                         "the spec accepts '%s', but there is no such finding", name);
        }
    }
}

static void *keep(struct plan *plan, const void *items, size_t count, size_t size)
{
    void *copy = myr_arena_alloc(plan->arena, count, size);
    if (count) {
        memcpy(copy, items, count * size);
    }
    return copy;
}

static void finish(struct plan *plan)
{
    struct myr_design *design = &plan->design;
    design->networks = MYR_ARENA_NEW(plan->arena, struct myr_network, MYR_NET_COUNT);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        design->networks[id] = plan->nets[id].out;
    }
    design->devtype_count = (uint32_t)plan->devtypes.count;
    design->cabletype_count = (uint32_t)plan->cabletypes.count;
    design->bom_count = (uint32_t)plan->bom.count;
    design->finding_count = (uint32_t)plan->findings.count;
    design->string_bytes = (uint32_t)plan->strings.len;
    design->devtypes =
        keep(plan, plan->devtypes.items, plan->devtypes.count, sizeof(*design->devtypes));
    design->cabletypes =
        keep(plan, plan->cabletypes.items, plan->cabletypes.count, sizeof(*design->cabletypes));
    design->bom = keep(plan, plan->bom.items, plan->bom.count, sizeof(*design->bom));
    design->findings =
        keep(plan, plan->findings.items, plan->findings.count, sizeof(*design->findings));
    design->strings = keep(plan, plan->strings.data, plan->strings.len, 1);
    design->racks = keep(plan, NULL, 0, sizeof(*design->racks));
    design->power = keep(plan, NULL, 0, sizeof(*design->power));
    design->cooling = keep(plan, NULL, 0, sizeof(*design->cooling));
    design->trays = keep(plan, NULL, 0, sizeof(*design->trays));
}

static int run(struct plan *plan, struct myr_err *err)
{
    int r = plan_resolve(plan, err);
    for (uint32_t id = 0; r == MYR_OK && id < MYR_NET_COUNT; id++) {
        if (plan->nets[id].present) {
            r = size_net(plan, &plan->nets[id], err);
        }
    }
    r = r < 0 ? r : plan_place(plan, err);
    r = r < 0 ? r : plan_optics(plan, err);
    if (r < 0) {
        return r;
    }
    plan_wire(plan);
    plan->design.devtypes = plan->devtypes.items; /* the checker looks ports up */
    fill_head(plan);
    r = plan_check(plan, err);
    if (r < 0) {
        return r;
    }
    plan_insides(plan);
    plan_domains(plan);
    plan_price(plan);
    if (plan->spec->room.node) {
        plan_finding(plan, MYR_SEVERITY_INFO, "room-not-placed", "room",
                     "cable lengths come from length_m until racks are placed",
                     "the room is noted, but racks, power and cooling are not planned yet");
    }
    check_accepts(plan);
    finish(plan);
    return MYR_OK;
}

int myr_plan(struct myr_arena *arena, const struct myr_catalog *catalog,
             const struct myr_spec *spec, struct myr_design *ret, struct myr_err *err)
{
    struct plan *plan = MYR_ARENA_NEW(arena, struct plan, 1);
    plan->arena = arena;
    plan->catalog = catalog;
    plan->spec = spec;
    (void)plan_string(plan, ""); /* offset 0 is the empty string */
    int r = run(plan, err);
    if (r == MYR_OK) {
        *ret = plan->design;
        MYR_SLOW_ASSERT(myr_design_check(ret, "plan", NULL) == MYR_OK);
    }
    myr_buf_done(&plan->strings);
    myr_strmap_done(&plan->string_index);
    myr_vec_done(&plan->devtypes);
    myr_vec_done(&plan->cabletypes);
    myr_vec_done(&plan->bom);
    myr_vec_done(&plan->findings);
    return r;
}

uint32_t myr_plan_open_errors(const struct myr_design *design)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < design->finding_count; i++) {
        open += design->findings[i].severity == MYR_SEVERITY_ERROR && !design->findings[i].accepted;
    }
    return open;
}
