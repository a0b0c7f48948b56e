#include "group.h"

static int damaged(uint64_t word, struct myr_err *err)
{
    return myr_err_set(err, MYR_ECORRUPT, "the group's memory is damaged: view %llx",
                       (unsigned long long)word);
}

static bool plausible(const struct myr_ccl *ccl, const struct ccl_record *record, uint64_t word)
{
    if (record->epoch != ccl_epoch_of(word) || record->size == 0 || record->size > ccl->places) {
        return false;
    }
    for (uint32_t i = 0; i < record->size; i++) {
        if (record->seats[i].place >= ccl->places) {
            return false;
        }
    }
    return true;
}

/*
 * A record that the view points at is not written: its author uses the other one. So it is whole if
 * the view still points at it after it was read.
 */
int ccl_view_read(struct myr_ccl *ccl, struct ccl_known *ret, struct myr_err *err)
{
    for (;;) {
        uint64_t word = ccl_load(ccl, &ccl->shared->view);
        if (word == 0) {
            memset(ret, 0, sizeof(*ret));
            return MYR_OK;
        }
        uint32_t place = (uint32_t)(word >> 1 & 0xffff);
        if (place >= ccl->places) {
            return damaged(word, err);
        }
        ccl_copy(ccl, &ret->record, ccl_record(ccl, place, word & 1), ccl->layout.record_bytes);
        atomic_thread_fence(memory_order_acquire);
        if (ccl_load(ccl, &ccl->shared->view) != word) {
            continue;
        }
        ret->word = word;
        return plausible(ccl, &ret->record, word) ? MYR_OK : damaged(word, err);
    }
}

bool ccl_view_adopt(struct myr_ccl *ccl)
{
    const struct ccl_record *record = &ccl->seen->record;
    uint32_t rank = 0;
    while (rank < record->size &&
           (record->seats[rank].place != ccl->place || record->seats[rank].owner != ccl->owner)) {
        rank++;
    }
    if (rank == record->size) {
        return false;
    }
    ccl_open(ccl, record->epoch);
    ccl_store(ccl, &ccl_place(ccl, ccl->place)->intent, record->epoch);
    ccl->epoch = record->epoch;
    ccl->ended = false;
    ccl->blame = (struct ccl_blame){0};
    ccl->blame = (struct ccl_blame){0};
    ccl->rank = rank;
    ccl->size = record->size;
    ccl->kept = record->kept;
    ccl->completed = record->completed;
    for (uint32_t i = 0; i < record->size; i++) {
        ccl->seats[i] = record->seats[i];
        ccl->lines[i] = ccl_place(ccl, record->seats[i].place)->lines;
    }
    struct ccl_known *spare = ccl->known;
    ccl->known = ccl->seen;
    ccl->seen = spare;
    ccl->ticket = ccl->round = ccl->calls = ccl->call_ticket = 0;
    return true;
}

uint64_t ccl_view_completed(const struct myr_ccl *ccl, uint64_t ticket)
{
    return ccl->calls > 0 && ticket < ccl->call_ticket ? ccl->calls - 1 : ccl->calls;
}
