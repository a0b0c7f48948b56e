/*
 * fuzz_plan: what the fuzzers of specs, catalogues and design files share: a limit on what is worth
 * planning, and everything that a design must stand being asked.
 */
#pragma once

#include "fuzz.h"
#include "myriad/plan.h"

enum { FUZZ_HOSTS_MAX = 64, FUZZ_FABRICS_MAX = 8, FUZZ_ROUTERS_MAX = 64 };
enum { FUZZ_DRAWN_EVERY = 8 }; /* drawing takes longer than all the rest */

/* Read once: it takes longer than a thousand inputs. */
static inline const struct myr_catalog *fuzz_catalog(void)
{
    static struct myr_arena arena;
    static struct myr_catalog catalog;
    if (!catalog.arena) {
        struct myr_err err;
        myr_arena_init(&arena);
        MYR_ASSERT(myr_catalog_init(&catalog, &arena, &err) == MYR_OK);
    }
    return &catalog;
}

/* A network of a small spec can still be large: by its own numbers, not by those of the servers. */
static inline bool fuzz_net_is_small(const struct myr_spec_net *net)
{
    uint64_t routers = 1;
    for (uint32_t i = 0; i < net->dim_count; i++) {
        routers *= net->dims[i];
    }
    bool grouped =
        net->topology == MYR_TOPOLOGY_DRAGONFLY || net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    return (!grouped || net->group_switches) && net->extra_nodes <= FUZZ_HOSTS_MAX &&
           routers <= FUZZ_ROUTERS_MAX &&
           net->planes * (net->rails ? net->rails : 1) <= FUZZ_FABRICS_MAX &&
           net->nic_ports <= FUZZ_FABRICS_MAX && net->group_switches <= 2 * FUZZ_FABRICS_MAX &&
           net->trunk <= FUZZ_FABRICS_MAX && net->pod_leaves <= FUZZ_HOSTS_MAX &&
           net->aggregation_count <= FUZZ_HOSTS_MAX;
}

/* What takes longer than a fraction of a millisecond finds no more than its small sister. */
static inline bool fuzz_spec_is_small(const struct myr_catalog *catalog,
                                      const struct myr_spec *spec)
{
    uint64_t nodes = spec->servers;
    if (spec->server_part != MYR_PART_NONE) {
        nodes *= catalog->parts.items[spec->server_part].server.nodes;
    }
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct myr_spec_group *group = &spec->groups[i];
        nodes = (i ? nodes : 0) +
                (uint64_t)group->servers * catalog->parts.items[group->server_part].server.nodes;
    }
    bool small = nodes <= FUZZ_HOSTS_MAX && spec->storage.servers <= FUZZ_HOSTS_MAX &&
                 spec->storage.capacity_tb <= 1000;
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        small = small && fuzz_net_is_small(&spec->nets[net]);
    }
    return small;
}

static inline void fuzz_use_device(const struct myr_design *design, uint32_t device, bool planned)
{
    struct myr_buf name = {};
    myr_design_name(design, device, &name);
    uint32_t found = myr_design_find(design, (struct myr_str){name.data, name.len});
    MYR_ASSERT(planned ? found == device : found == MYR_NONE || found < design->device_count);
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t peer = myr_design_peer(design, p);
        MYR_ASSERT(peer == MYR_NONE || myr_design_peer(design, peer) == p);
        myr_buf_clear(&name);
        myr_design_port_name(design, p, &name);
        MYR_ASSERT(name.len > 0);
        /* A switch's management port lies beside its cages. */
        MYR_ASSERT(!planned || myr_design_port_group(design, p)->role == MYR_PORT_NIC ||
                   myr_design_port_cage(design, p) <
                       design->devtypes[design->device_type[device]].cages);
    }
    myr_buf_done(&name);
}

/* 'planned': it came from the planner, so that more may be expected of it than of a file. */
static inline void fuzz_use_design(const struct myr_design *design, bool planned)
{
    struct myr_buf text = {};
    struct myr_arena arena;
    struct myr_answer answer;
    struct myr_err err;
    const struct myr_doc *doc;
    for (uint32_t device = 0; device < design->device_count; device++) {
        fuzz_use_device(design, device, planned);
    }
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "myriad.plan", 1);
    const struct myr_value *bom = myr_plan_answer(design, &answer);
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    MYR_ASSERT(myr_answer_write(&answer, &form, &text, &err) == MYR_OK);
    MYR_ASSERT(myr_doc_read_json(&arena, "plan.json", (struct myr_str){text.data, text.len}, &doc,
                                 &err) == MYR_OK);
    fuzz_note_text("plan", &text);
    myr_buf_clear(&text);
    myr_plan_page(design, &answer, bom);
    myr_plan_explain(design, &answer);
    form.format = MYR_FORMAT_TABLE;
    MYR_ASSERT(myr_answer_write(&answer, &form, &text, &err) == MYR_OK);
    myr_plan_bom_csv(design, &text);
    fuzz_note_text("page", &text);
    if (myr_hash_bytes(design->strings, design->string_bytes) % FUZZ_DRAWN_EVERY == 0) {
        myr_buf_clear(&text);
        myr_plan_svg(design, &text);
    }
    myr_arena_done(&arena);
    myr_buf_done(&text);
}

/* The planner proves what it built; where proof and plan disagree it says so in this finding. */
static inline void fuzz_check_structure(const struct myr_design *design)
{
    for (uint32_t i = 0; i < design->finding_count; i++) {
        MYR_ASSERT(strcmp(myr_design_str(design, design->findings[i].rule), "structure") != 0);
    }
}

/* Plans what is small enough; an error must point into 'file'. */
static inline void fuzz_plan(const struct myr_catalog *catalog, const struct myr_spec *spec,
                             const char *file)
{
    struct myr_arena arena;
    struct myr_design design = {};
    struct myr_err err;
    if (!fuzz_spec_is_small(catalog, spec)) {
        return;
    }
    myr_arena_init(&arena);
    int rc = myr_plan(&arena, catalog, spec, &design, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        MYR_ASSERT(myr_design_check(&design, file, &err) == MYR_OK);
        fuzz_check_structure(&design);
        fuzz_use_design(&design, true);
    }
    myr_arena_done(&arena);
}
