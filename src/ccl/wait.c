/*
 * Waiting: look, then sleep, then see whether the one that is waited for is alive.
 *
 * Only who finds everything complete on its first look rings: the last one to come. Should it die
 * before it rings, the others look again after LOOK_NS, as they do for the dead.
 */
#include "group.h"

#define LOOK_NS       5000000 /* between two looks at who is alive */
#define FIRST_LOOK_NS 2000000 /* most waits end before */
#define SPIN_NS       200000  /* then we sleep */

bool ccl_gone(struct myr_ccl *ccl, const struct ccl_seat *seat)
{
    struct ccl_place *place = ccl_place(ccl, seat->place);
    if (ccl_load(ccl, &place->owner) != seat->owner) {
        return true;
    }
    uint64_t start = ccl_load(ccl, &place->start);
    uint32_t pid = (uint32_t)seat->owner;
    /* Who has only just taken the place has not said yet when it began. */
    start = seat->owner & CCL_HELD ? start : 0;
    return ccl->world.gone(ccl->world.context, seat->place, seat->owner, pid, start);
}

/* How far a wait for a ticket has come. */
struct meeting {
    uint64_t flag;
    uint32_t next; /* members below have come */
    uint32_t odd;
};

static bool all_here(struct myr_ccl *ccl, struct meeting *meeting)
{
    while (meeting->next < ccl->size) {
        struct ccl_line *line = ccl->lines[meeting->next] + meeting->odd;
        if (ccl_load(ccl, &line->flag) != meeting->flag) {
            return false;
        }
        meeting->next++;
    }
    return true;
}

static bool meeting_over(struct myr_ccl *ccl, void *context)
{
    return all_here(ccl, context) || !ccl_is_open(ccl);
}

static uint32_t late_and_gone(struct myr_ccl *ccl, const struct meeting *meeting)
{
    for (uint32_t i = meeting->next; i < ccl->size; i++) {
        struct ccl_line *line = ccl->lines[i] + meeting->odd;
        if (ccl_load(ccl, &line->flag) != meeting->flag && ccl_gone(ccl, &ccl->seats[i])) {
            return i;
        }
    }
    return ccl->size;
}

static void blame(struct myr_ccl *ccl, uint32_t rank, int64_t since_ns)
{
    struct myr_ccl_member *met = &ccl->met[ccl->seats[rank].place];
    met->waited_ns += ccl_now(ccl) - since_ns;
    met->last++;
}

static int over(struct myr_ccl *ccl, struct myr_err *err, const char *what, uint32_t rank)
{
    struct ccl_place *place = ccl_place(ccl, ccl->seats[rank].place);
    return myr_err_set(err, MYR_EREFORM, "epoch %llu has ended: rank %u (tag %llu, process %u) %s",
                       (unsigned long long)ccl->epoch, rank,
                       (unsigned long long)atomic_load(&place->tag),
                       (uint32_t)ccl->seats[rank].owner, what);
}

/* The epoch has ended, by us ('what' says why) or by others. */
static int end(struct myr_ccl *ccl, struct myr_err *err, const char *what, uint32_t rank)
{
    if (ccl_settle(ccl, ccl->ticket) == MYR_OK) {
        return MYR_OK;
    }
    if (what) {
        return over(ccl, err, what, rank);
    }
    return myr_err_set(err, MYR_EREFORM, "epoch %llu has ended", (unsigned long long)ccl->epoch);
}

static int wait_long(struct myr_ccl *ccl, struct meeting *meeting, int64_t deadline_ns,
                     struct myr_err *err)
{
    int64_t begun = ccl_now(ccl), look = begun + FIRST_LOOK_NS;
    for (;;) {
        uint32_t late = meeting->next;
        if (all_here(ccl, meeting)) {
            blame(ccl, late, begun);
            return MYR_OK;
        }
        if (!ccl_is_open(ccl)) {
            return end(ccl, err, NULL, 0);
        }
        int64_t now = ccl_now(ccl);
        if (now >= deadline_ns) {
            ccl_revoke(ccl, ccl->epoch);
            return end(ccl, err, "did not come in time", meeting->next);
        }
        if (now >= look) {
            look = now + LOOK_NS;
            uint32_t gone = late_and_gone(ccl, meeting);
            if (gone < ccl->size) {
                ccl_revoke(ccl, ccl->epoch);
                return end(ccl, err, "is gone", gone);
            }
        }
        ccl_sleep(ccl, meeting_over, meeting, look < deadline_ns ? look : deadline_ns);
    }
}

/*
 * Looks for a short while. Where cores are scarce one step aside may take as long as all others
 * want to run, so the clock counts, not the number of looks alone.
 */
static bool comes_soon(struct myr_ccl *ccl, struct meeting *meeting, int64_t begun_ns)
{
    bool crowded = ccl->size > ccl->world.cores;
    for (uint32_t i = 0; i < ccl->spins; i++) {
        ccl->world.relax(ccl->world.context, i, crowded);
        if (all_here(ccl, meeting)) {
            return true;
        }
        if (!ccl_is_open(ccl) || ((crowded || i % 32 == 31) && ccl_now(ccl) - begun_ns > SPIN_NS)) {
            return false;
        }
    }
    return false;
}

int ccl_meet(struct myr_ccl *ccl, uint64_t sign, int64_t deadline_ns, struct myr_err *err)
{
    MYR_ASSERT(ccl->ticket < CCL_TICKET_MAX);
    ccl->ticket++;
    struct meeting meeting = {ccl_flag(ccl->epoch, ccl->ticket), 0, ccl->ticket & 1};
    struct ccl_line *mine = ccl->lines[ccl->rank] + meeting.odd;
    mine->sign = sign;
    mine->stamp = ccl->begun_ns;
    ccl_store(ccl, &mine->flag, meeting.flag);
    if (all_here(ccl, &meeting)) {
        ccl_ring(ccl);
        return MYR_OK;
    }
    if (comes_soon(ccl, &meeting, ccl_now(ccl))) {
        return MYR_OK;
    }
    return wait_long(ccl, &meeting, deadline_ns, err);
}
