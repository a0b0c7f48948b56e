/*
 * Places: one for each process. A place is taken when it is free, or when who had it is gone and in
 * no view that is in force.
 */
#include "group.h"

static bool seated(const struct ccl_known *view, uint32_t place, uint64_t owner)
{
    for (uint32_t i = 0; view->word && i < view->record.size; i++) {
        if (view->record.seats[i].place == place && view->record.seats[i].owner == owner) {
            return true;
        }
    }
    return false;
}

static bool take(struct myr_ccl *ccl, const struct ccl_known *view, uint32_t index)
{
    struct ccl_place *place = ccl_place(ccl, index);
    uint64_t owner = ccl_load(ccl, &place->owner);
    if (owner & (CCL_HELD | CCL_CLAIMED)) {
        struct ccl_seat seat = {.owner = owner, .place = index};
        if (seated(view, index, owner) || !ccl_gone(ccl, &seat)) {
            return false;
        }
    } else if (seated(view, index, owner | CCL_HELD)) {
        return false; /* who left is still in the view: the others have yet to see it */
    }
    uint64_t next = (owner >> 34) + 1;
    if (!ccl_swap(ccl, &place->owner, owner, ccl_owner(next, CCL_CLAIMED, ccl->world.pid))) {
        return false;
    }
    ccl->place = index;
    ccl->owner = ccl_owner(next, CCL_HELD, ccl->world.pid);
    return true;
}

int ccl_place_claim(struct myr_ccl *ccl, uint64_t tag, int64_t deadline_ns, struct myr_err *err)
{
    for (;;) {
        MYR_TRY(ccl_view_read(ccl, ccl->seen, err));
        for (uint32_t i = 0; i < ccl->places; i++) {
            if (!take(ccl, ccl->seen, i)) {
                continue;
            }
            struct ccl_place *place = ccl_place(ccl, i);
            ccl_store(ccl, &place->start, ccl->world.start);
            ccl_store(ccl, &place->tag, tag);
            ccl_store(ccl, &place->intent, CCL_JOINING);
            ccl_store(ccl, &place->owner, ccl->owner);
            return MYR_OK;
        }
        int64_t now = ccl_now(ccl);
        if (now >= deadline_ns) {
            return myr_err_set(err, MYR_EAWAY, "all %u places of the group are taken", ccl->places);
        }
        /* Nobody rings for a place: who was in it mostly died. */
        ccl->world.sleep(ccl->world.context, &ccl->shared->bell, atomic_load(&ccl->shared->bell),
                         deadline_ns - now < 10000000 ? deadline_ns - now : 10000000);
    }
}

void ccl_place_free(struct myr_ccl *ccl)
{
    struct ccl_place *place = ccl_place(ccl, ccl->place);
    ccl_swap(ccl, &place->owner, ccl->owner, ccl->owner & ~CCL_HELD);
}
