#include "group.h"

void myr_ccl_view(const struct myr_ccl *ccl, struct myr_ccl_view *ret)
{
    *ret = (struct myr_ccl_view){ccl->epoch, ccl->rank, ccl->size, ccl->kept, ccl->completed};
}

int myr_ccl_member(const struct myr_ccl *ccl, uint32_t rank, struct myr_ccl_member *ret,
                   struct myr_err *err)
{
    if (!ccl || !ret || rank >= ccl->size) {
        return myr_err_set(err, MYR_EINVAL, "the group has no rank %u", rank);
    }
    const struct ccl_seat *seat = &ccl->seats[rank];
    *ret = ccl->met[seat->place];
    ret->tag = ccl_load(ccl, &ccl_place(ccl, seat->place)->tag);
    ret->pid = (uint32_t)seat->owner;
    return MYR_OK;
}

uint64_t myr_ccl_calls(const struct myr_ccl *ccl)
{
    return ccl->calls;
}

int myr_ccl_slow(const struct myr_ccl *ccl, uint32_t *ret_rank)
{
    return ccl_blame_named(&ccl->blame, ret_rank);
}

uint32_t myr_ccl_joiners(struct myr_ccl *ccl)
{
    uint32_t joiners = 0;
    for (uint32_t i = 0; i < ccl->places; i++) {
        struct ccl_seat seat;
        joiners += ccl_is_joiner(ccl, &ccl->known->record, i, true, &seat);
    }
    return joiners;
}

int myr_ccl_reform(struct myr_ccl *ccl, const struct myr_ccl_reform *how, int64_t timeout_ns,
                   struct myr_ccl_view *ret, struct myr_err *err)
{
    static const struct myr_ccl_reform any;
    if (!ccl || timeout_ns <= 0) {
        return myr_err_set(err, MYR_EINVAL, "reform needs a group and a time limit above 0");
    }
    how = how ? how : &any;
    if (how->least > ccl->places || how->want > ccl->places || how->grace_ns < 0 ||
        how->join_ns < 0) {
        return myr_err_set(err, MYR_EINVAL, "the group has %u places, and times are not negative",
                           ccl->places);
    }
    MYR_TRY(ccl_reform(ccl, how, ccl_later(ccl_now(ccl), timeout_ns), err));
    if (ret) {
        myr_ccl_view(ccl, ret);
    }
    return MYR_OK;
}
