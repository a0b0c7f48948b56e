#include "repair/repair.h"
#include "verify/verify.h"

/* How much of the plan is there: what was not looked at is not there, as far as anybody knows. */

/* A cable is right when both ends are; one end not read leaves it open, one not seen does not. */
static void count(struct myr_ready *row, enum myr_port_state a, enum myr_port_state b)
{
    row->cables++;
    if (a == MYR_STATE_RIGHT && b == MYR_STATE_RIGHT) {
        row->right++;
    } else if (a == MYR_STATE_UNREAD || b == MYR_STATE_UNREAD) {
        row->unread++;
    } else if (a == MYR_STATE_UNSEEN && b == MYR_STATE_UNSEEN) {
        row->unseen++;
    } else {
        /* Wrong, missing, degraded, or seen at one end only. */
        row->bad++;
    }
    MYR_ASSERT(row->right + row->unread + row->unseen + row->bad == row->cables);
}

/* Keys are set at once: rows move when empty ones are left out. */
static struct myr_ready *rows_of(struct myr_arena *arena, uint32_t total)
{
    struct myr_ready *rows = MYR_ARENA_NEW(arena, struct myr_ready, total);
    for (uint32_t i = 0; i < total; i++) {
        rows[i].key = i;
    }
    return rows;
}

/* Rows without a cable are left out. */
static uint32_t pack(struct myr_ready *rows, uint32_t total)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < total; i++) {
        if (rows[i].cables) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

/* A cable counts in every row that it belongs to. */
static void count_link(struct myr_verify *verify, uint32_t link, uint32_t pods)
{
    const struct myr_design *design = verify->design;
    struct myr_coverage *cover = &verify->coverage;
    uint32_t a = design->link_a[link], b = design->link_b[link];
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    if (!(verify->options.nets >> type->net & 1)) {
        return;
    }
    enum myr_port_state at_a = (enum myr_port_state)verify->state[a];
    enum myr_port_state at_b = (enum myr_port_state)verify->state[b];
    MYR_ASSERT(type->layer < MYR_LAYER_COUNT);
    count(&cover->all, at_a, at_b);
    count(&cover->layers[type->layer], at_a, at_b);
    /* By the lower end; what stands in no pod counts in none. */
    uint32_t pod = repair_pod(design, design->port_device[a]);
    if (pod < pods) {
        count(&cover->pods[pod], at_a, at_b);
    }
    uint32_t rack_a = design->device_rack[design->port_device[a]];
    uint32_t rack_b = design->device_rack[design->port_device[b]];
    if (rack_a != MYR_NONE) {
        count(&cover->racks[rack_a], at_a, at_b);
    }
    /* A cable between two racks is to be done in both. */
    if (rack_b != MYR_NONE && rack_b != rack_a) {
        count(&cover->racks[rack_b], at_a, at_b);
    }
}

/* Devices that have planned cables, and that no source mentions. */
static void list_absent(struct myr_verify *verify)
{
    const struct myr_design *design = verify->design;
    struct myr_coverage *cover = &verify->coverage;
    cover->absent = MYR_ARENA_NEW(verify->arena, uint32_t, design->device_count);
    for (uint32_t d = 0; d < design->device_count; d++) {
        /* A device that nobody told of has nothing but unseen ports. */
        uint32_t planned = 0, seen = 0;
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            planned += verify->plan[p] != MYR_NONE;
            seen += verify->state[p] != MYR_STATE_UNSEEN && verify->state[p] != MYR_STATE_IDLE;
        }
        if (planned && seen == 0) {
            cover->absent[cover->absent_count++] = d;
        }
    }
}

/* Rows of all pods and racks are made, and those without a cable left out at the end. */
void verify_cover(struct myr_verify *verify)
{
    const struct myr_design *design = verify->design;
    struct myr_coverage *cover = &verify->coverage;
    /* Networks may have different numbers of them. */
    uint32_t pods = 1;
    for (uint32_t n = 0; n < MYR_NET_COUNT; n++) {
        pods = design->networks[n].pods > pods ? design->networks[n].pods : pods;
    }
    cover->layers = rows_of(verify->arena, MYR_LAYER_COUNT);
    cover->pods = rows_of(verify->arena, pods);
    cover->racks = rows_of(verify->arena, design->rack_count);
    for (uint32_t link = 0; link < design->link_count; link++) {
        count_link(verify, link, pods);
    }
    cover->layer_count = pack(cover->layers, MYR_LAYER_COUNT);
    cover->pod_count = pack(cover->pods, pods);
    cover->rack_count = pack(cover->racks, design->rack_count);
    list_absent(verify);
}
