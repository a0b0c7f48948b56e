#include "shared.h"

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

void ccl_layout(uint32_t places, uint32_t stage_bytes, struct ccl_layout *ret)
{
    struct ccl_layout layout = {.stage_bytes = stage_bytes};
    layout.places = round_up(sizeof(struct ccl_shared), 64);
    layout.records = layout.places + places * sizeof(struct ccl_place);
    layout.record_bytes =
        round_up(sizeof(struct ccl_record) + places * sizeof(struct ccl_seat), 64);
    layout.small = round_up(layout.records + 2 * places * layout.record_bytes, 4096);
    layout.stages = layout.small + (size_t)places * 2 * CCL_SMALL_MAX;
    layout.sums = layout.stages + (size_t)places * 2 * stage_bytes;
    /* A share of a round: half of it with two members, and less with more. */
    layout.sum_bytes = round_up(stage_bytes / 2 + 64, 4096);
    layout.total = layout.sums + (size_t)places * 2 * layout.sum_bytes;
    *ret = layout;
}

/* The memory is zero. */
void ccl_shared_init(struct ccl_shared *shared, const struct myr_ccl_conf *conf)
{
    struct ccl_layout layout;
    ccl_layout(conf->places, conf->stage_bytes, &layout);
    shared->bytes = layout.total;
    shared->places = conf->places;
    shared->stage_bytes = conf->stage_bytes;
    shared->members = conf->members;
    atomic_store(&shared->gate, ccl_gate(0, CCL_FROZEN, 0));
    atomic_store(&shared->magic, CCL_MAGIC);
}
