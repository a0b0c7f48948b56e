#include "myriad/plan.h"

#include "plan_internal.h"

/*
 * The order of planning. Everything is decided before anything is built: parts and counts first
 * (resolve, size), then devices and their ports (place, optics), then links. So every array has
 * its final length when it is filled, and ids follow from the formulas alone.
 */

/* How often a plan is made again; how often with fewer strips than before. */
enum { PASSES_MAX = 6, PASSES_FREE = 3 };

/* What the spec says, else the currency of its price book, else that of its list; CNY where none
 * does. */
static void fill_head(struct plan *plan)
{
    struct myr_design_head *head = plan->design.head;
    const struct myr_part_server *server = &plan->server->server;
    const char *currency = "CNY";
    const struct myr_price_book *book = myr_price_book_find(plan->catalog, plan->spec->price_book);
    currency = plan->spec->bill_currency ? plan->spec->bill_currency
               : book                    ? book->currency
               : plan->spec->currency    ? plan->spec->currency
                                         : currency;
    uint32_t gpu = myr_catalog_find(plan->catalog, myr_str_from(server->gpu));
    /* In whole GB, high and low half: the head is 32-bit words, the same on every machine. */
    uint64_t raw_gb = (uint64_t)(plan->storage_raw_tb * 1000 + 0.5);
    uint64_t usable_gb = (uint64_t)(plan->storage_usable_tb * 1000 + 0.5);
    head->name = plan_string(plan, plan->spec->name);
    head->currency = plan_string(plan, currency);
    head->price_book = plan_string(plan, plan->spec->price_book ? plan->spec->price_book : "");
    head->servers = plan->spec->servers;
    head->nodes = plan->nodes;
    head->gpus = plan->gpus;
    head->nodes_per_server = server->nodes;
    head->gpus_per_node = server->gpus_per_node;
    /* A GPU without scale-up is a domain of its own. */
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

/* Vectors live on the heap while the plan grows; the design lies in the caller's arena. */
static void *keep(struct plan *plan, const void *items, size_t count, size_t size)
{
    void *copy = myr_arena_alloc(plan->arena, count, size);
    if (count) {
        memcpy(copy, items, count * size);
    }
    return copy;
}

/* Hands the grown vectors over to the design, once nothing adds to them any more. */
static void finish(struct plan *plan)
{
    struct myr_design *design = &plan->design;
    design->networks = MYR_ARENA_NEW(plan->arena, struct myr_network, MYR_NET_COUNT);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        design->networks[id] = plan->nets[id].out;
    }
    design->devtype_count = (uint32_t)plan->devtypes.count;
    design->cabletype_count = (uint32_t)plan->cabletypes.count;
    design->card_count = (uint32_t)plan->cards.count;
    design->bom_count = (uint32_t)plan->bom.count;
    design->finding_count = (uint32_t)plan->findings.count;
    design->string_bytes = (uint32_t)plan->strings.len;
    design->devtypes =
        keep(plan, plan->devtypes.items, plan->devtypes.count, sizeof(*design->devtypes));
    design->cabletypes =
        keep(plan, plan->cabletypes.items, plan->cabletypes.count, sizeof(*design->cabletypes));
    design->cards = keep(plan, plan->cards.items, plan->cards.count, sizeof(*design->cards));
    design->bom = keep(plan, plan->bom.items, plan->bom.count, sizeof(*design->bom));
    MYR_ASSERT(plan->bom_more.count == plan->bom.count);
    design->bom_more =
        keep(plan, plan->bom_more.items, plan->bom_more.count, sizeof(*design->bom_more));
    MYR_ASSERT(plan->bom_prices.count == plan->bom.count);
    design->bom_price =
        keep(plan, plan->bom_prices.items, plan->bom_prices.count, sizeof(*design->bom_price));
    design->findings =
        keep(plan, plan->findings.items, plan->findings.count, sizeof(*design->findings));
    design->figure_count = (uint32_t)plan->figures.count;
    design->figures =
        keep(plan, plan->figures.items, plan->figures.count, sizeof(*design->figures));
    design->strings = keep(plan, plan->strings.data, plan->strings.len, 1);
    /* Without a room the lists are there all the same, and empty. */
    if (!design->room) {
        design->racks = keep(plan, NULL, 0, sizeof(*design->racks));
        design->power = keep(plan, NULL, 0, sizeof(*design->power));
        design->cooling = keep(plan, NULL, 0, sizeof(*design->cooling));
        design->trays = keep(plan, NULL, 0, sizeof(*design->trays));
    }
}

/* For those who try many designs: the same steps without proofs, room and power. */
int plan_unproved(struct plan *plan, struct myr_err *err)
{
    MYR_TRY(plan_size(plan, err));
    MYR_TRY(plan_place(plan, err));
    MYR_TRY(plan_optics(plan, err));
    plan_wire(plan);
    fill_head(plan);
    MYR_TRY(plan_price(plan, err));
    plan_storage_figures(plan);
    return MYR_OK;
}

/* Everything that is built; what follows it proves, counts and prices. */
static int build(struct plan *plan, struct myr_err *err)
{
    plan_tell(plan, "sizing networks");
    int rc = plan_size(plan, err);
    if (rc < 0) {
        plan_nearest(plan, err);
        return rc;
    }
    plan_tell(plan, "placing devices");
    MYR_TRY(plan_place(plan, err));
    size_t findings = plan->findings.count;
    MYR_TRY(plan_optics(plan, err));
    if (plan->spec->room.node) {
        plan->findings.count = findings; /* of assumed lengths; the room knows the true ones */
    }
    plan_tell(plan, "wiring");
    plan_wire(plan);
    plan->design.devtypes = plan->devtypes.items; /* the checker looks ports up */
    fill_head(plan);
    /* The room may cut and wire the cables anew: what is proved and billed comes behind it. */
    plan_tell(plan, "filling racks");
    return plan_room(plan, err);
}

/* All steps in the order of plan_internal.h. A refusal is told with the nearest spec that would not
 * have been refused. */
static int run(struct plan *plan, struct myr_err *err)
{
    MYR_TRY(build(plan, err));
    plan_tell(plan, "checking");
    MYR_TRY(plan_check(plan, err));
    plan_insides(plan);
    plan_domains(plan);
    plan_tell(plan, "pricing");
    MYR_TRY(plan_price(plan, err));
    plan_storage_figures(plan);
    plan_power(plan);
    MYR_TRY(plan_countable(plan, err)); /* with the lines of the cooling plant */
    plan_tell(plan, "plugging together");
    if (!plan->unplugged) {
        plan_plugged(plan);
    }
    plan_keep_groups(plan);
    plan_advice(plan);
    plan_check_accepts(plan);
    finish(plan);
    return MYR_OK;
}

/*
 * Power strips and cooling units hang on a network that is sized before the racks are filled, and
 * how many they are is known after that: the plan is made again with what came out. Their switches
 * may fill another rack, hence more than once; in the end there are no fewer than before.
 */
static int plan_asked(const struct plan *asked, struct myr_design *ret, struct myr_err *err)
{
    const struct myr_spec *spec = asked->spec;
    uint32_t pdus = 0, cdus = 0;
    for (uint32_t pass = 0;; pass++) {
        struct plan *plan = MYR_ARENA_ONE(asked->arena, struct plan);
        *plan = *asked;
        plan->pdus = pdus;
        plan->cdus = cdus;
        /* With strips to be counted the first pass only finds out how many racks are used. */
        plan->rough =
            pass == 0 && spec->room.node && spec->room.managed && spec->nets[MYR_NET_OOB].node;
        (void)plan_string(plan, ""); /* offset 0 is the empty string */
        int rc = run(plan, err);
        uint32_t strips = 0, units = 0;
        bool same = rc == MYR_OK && plan_units_right(plan, &strips, &units);
        /* Done on any error, when the numbers agree, or when it has been tried often enough. */
        bool right = rc < 0 || (same && !plan->rough) || pass == PASSES_MAX;
        if (right && rc == MYR_OK) {
            *ret = plan->design;
            ret->named_files = myr_spec_named_files(spec);
            MYR_SLOW_ASSERT(myr_design_check(ret, "plan", NULL) == MYR_OK);
        }
        plan_release(plan);
        if (right) {
            return rc;
        }
        /* After the first passes the numbers only grow: the loop cannot swing between two plans. */
        pdus = strips > pdus || pass < PASSES_FREE ? strips : pdus;
        cdus = units > cdus || pass < PASSES_FREE ? units : cdus;
    }
}

int myr_plan_heard(struct myr_arena *arena, const struct myr_catalog *catalog,
                   const struct myr_spec *spec, const struct myr_plan_listener *listener,
                   struct myr_design *ret, struct myr_err *err)
{
    const struct plan asked = {
        .arena = arena, .catalog = catalog, .spec = spec, .listener = listener};
    return plan_asked(&asked, ret, err);
}

int myr_plan(struct myr_arena *arena, const struct myr_catalog *catalog,
             const struct myr_spec *spec, struct myr_design *ret, struct myr_err *err)
{
    return myr_plan_heard(arena, catalog, spec, NULL, ret, err);
}

int myr_plan_fabric(struct myr_arena *arena, const struct myr_catalog *catalog,
                    const struct myr_spec *spec, struct myr_design *ret, struct myr_err *err)
{
    const struct plan asked = {.arena = arena, .catalog = catalog, .spec = spec, .unplugged = true};
    return plan_asked(&asked, ret, err);
}

/* The spec is given back; what the design needs of it lies in the arena. */
int myr_plan_file(struct myr_arena *arena, const struct myr_catalog *catalog, const char *path,
                  struct myr_design *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_TRY(myr_spec_load(arena, catalog, path, NULL, &spec, err));
    return myr_plan(arena, catalog, &spec, ret, err);
}
