/*
 * Forming the next epoch. Nobody leads: who has ended the old epoch says so ('intent'), waits until
 * all others have too, are gone, or have been waited for long enough, writes the next view into a
 * record of its own and swaps the view word to it. Of several that do so one wins; what it wrote
 * stands, also if it dies at once, and the others read it.
 */
#include "group.h"

#define LOOK_NS 5000000

/* What one look at the group has found. */
struct muster {
    uint32_t ready, missing, joiners, total;
};

struct reforming {
    const struct myr_ccl_reform *how;
    int64_t grace_ns, join_ns; /* until when */
    uint64_t completed;
    bool member; /* of the epoch that ends; otherwise it joins */
};

static bool is_ready(struct myr_ccl *ccl, const struct ccl_seat *seat, uint64_t epoch)
{
    struct ccl_place *place = ccl_place(ccl, seat->place);
    return ccl_load(ccl, &place->intent) > epoch && ccl_load(ccl, &place->owner) == seat->owner;
}

static bool is_seated(const struct ccl_record *view, uint32_t place, uint64_t owner)
{
    for (uint32_t i = 0; i < view->size; i++) {
        if (view->seats[i].place == place && view->seats[i].owner == owner) {
            return true;
        }
    }
    return false;
}

/* Who has been let in and does not know it yet is none any more. */
bool ccl_is_joiner(struct myr_ccl *ccl, const struct ccl_record *view, uint32_t index, bool sure,
                   struct ccl_seat *ret)
{
    struct ccl_place *place = ccl_place(ccl, index);
    uint64_t owner = ccl_load(ccl, &place->owner);
    if (!(owner & CCL_HELD) || ccl_load(ccl, &place->intent) != CCL_JOINING ||
        is_seated(view, index, owner)) {
        return false;
    }
    *ret = (struct ccl_seat){.owner = owner, .place = index};
    return !sure || !ccl_gone(ccl, ret);
}

/* The next joiner from place '*next' on. */
static bool next_joiner(struct myr_ccl *ccl, const struct ccl_record *old, uint32_t *next,
                        bool sure, struct ccl_seat *ret)
{
    while (*next < ccl->places) {
        if (ccl_is_joiner(ccl, old, (*next)++, sure, ret)) {
            return true;
        }
    }
    return false;
}

/*
 * Who would be in the next view. Ranks of members that are missing go to joiners, in the order of
 * their places; joiners that are left over come last. To look whether those are alive who said just
 * now that they are ready is left until it matters ('sure').
 */
static void draw_up(struct myr_ccl *ccl, uint32_t want, bool sure, struct muster *ret)
{
    const struct ccl_record *old = &ccl->seen->record;
    struct ccl_record *next = &ccl->draft->record;
    struct muster muster = {0};
    bool ready[MYR_CCL_PLACES_MAX];
    for (uint32_t i = 0; i < old->size; i++) {
        ready[i] = is_ready(ccl, &old->seats[i], old->epoch);
        bool gone = (sure || !ready[i]) && ccl_gone(ccl, &old->seats[i]);
        ready[i] = ready[i] && !gone;
        muster.ready += ready[i];
        muster.missing += !ready[i] && !gone;
    }
    next->kept = 0;
    uint32_t room = want == 0 ? ccl->places : want > muster.ready ? want - muster.ready : 0;
    uint32_t from = 0, size = 0;
    for (uint32_t i = 0; i < old->size + ccl->places; i++) {
        struct ccl_seat seat;
        if (i < old->size && ready[i]) {
            seat = old->seats[i];
            /* Who was let in and does not know it yet brings nothing from the epoch before. */
            seat.kept = ccl_load(ccl, &ccl_place(ccl, seat.place)->intent) != CCL_JOINING;
            next->kept += seat.kept;
            next->seats[size++] = seat;
        } else if (muster.joiners < room && next_joiner(ccl, old, &from, sure, &seat)) {
            next->seats[size++] = seat;
            muster.joiners++;
        } else if (i >= old->size) {
            break;
        }
    }
    muster.total = next->size = size;
    next->epoch = old->epoch + 1;
    *ret = muster;
}

static bool may_begin(const struct reforming *reforming, const struct muster *muster, int64_t now)
{
    const struct myr_ccl_reform *how = reforming->how;
    uint32_t least = how->least > 0 ? how->least : 1;
    if (muster->total < least) {
        return false;
    }
    if (!reforming->member) {
        /* Members let joiners in; without any, joiners are among themselves. */
        return muster->ready == 0 && muster->missing == 0;
    }
    return (muster->missing == 0 || now >= reforming->grace_ns) &&
           (muster->total >= how->want || now >= reforming->join_ns);
}

/* Puts the draft in force, unless another one is by now. */
static int install(struct myr_ccl *ccl, struct myr_err *err)
{
    const struct ccl_known *old = ccl->seen;
    struct ccl_record *draft = &ccl->draft->record;
    uint64_t ticket;
    if (draft->epoch > CCL_EPOCH_MAX) {
        return myr_err_set(err, MYR_ERANGE, "the group has had all its epochs");
    }
    if (old->word != 0 && !ccl_freeze(ccl, &old->record, &ticket)) {
        return MYR_OK;
    }
    uint32_t mine = ccl_view_word(ccl_epoch_of(old->word), ccl->place, 0) == old->word;
    ccl_copy(ccl, ccl_record(ccl, ccl->place, mine), draft,
             sizeof(*draft) + draft->size * sizeof(draft->seats[0]));
    if (ccl_swap(ccl, &ccl->shared->view, old->word,
                 ccl_view_word(draft->epoch, ccl->place, mine))) {
        ccl_open(ccl, draft->epoch);
        ccl_ring(ccl);
    }
    return MYR_OK;
}

static bool reform_over(struct myr_ccl *ccl, void *context)
{
    (void)context;
    return ccl_load(ccl, &ccl->shared->view) != ccl->seen->word;
}

/* Whether the time has come to propose 'draft', which it draws up. */
static bool draft_next(struct myr_ccl *ccl, const struct reforming *reforming)
{
    struct muster muster;
    int64_t now = ccl_now(ccl);
    /* Joiners begin among themselves when no member is alive, and members that died are no few. */
    draw_up(ccl, reforming->how->want, !reforming->member, &muster);
    if (may_begin(reforming, &muster, now)) {
        draw_up(ccl, reforming->how->want, true, &muster);
        ccl->draft->record.completed = reforming->completed;
        return may_begin(reforming, &muster, now);
    }
    return false;
}

/* One look: adopts the next view (1), or finds that there is none yet (0), having proposed or not.
 */
static int look(struct myr_ccl *ccl, const struct reforming *reforming, struct myr_err *err)
{
    for (int tries = 0; tries < 2; tries++) {
        MYR_TRY(ccl_view_read(ccl, ccl->seen, err));
        uint64_t epoch = ccl->seen->record.epoch;
        if (epoch > ccl->epoch) {
            if (ccl_view_adopt(ccl)) {
                return 1;
            }
            if (reforming->member) {
                return myr_err_set(err, MYR_ESTALE,
                                   "the group has gone on to epoch %llu without us",
                                   (unsigned long long)epoch);
            }
        }
        if (tries > 0 || !draft_next(ccl, reforming)) {
            return 0;
        }
        MYR_TRY(install(ccl, err));
    }
    return 0;
}

static int wait_for_next(struct myr_ccl *ccl, const struct reforming *reforming,
                         int64_t deadline_ns, struct myr_err *err)
{
    for (;;) {
        int rc = look(ccl, reforming, err);
        if (rc != 0) {
            return rc < 0 ? rc : MYR_OK;
        }
        int64_t now = ccl_now(ccl);
        if (now >= deadline_ns) {
            return myr_err_set(err, MYR_ESTALLED, "no epoch after %llu was formed in time",
                               (unsigned long long)ccl->epoch);
        }
        int64_t until = now + LOOK_NS;
        ccl_sleep(ccl, reform_over, NULL, until < deadline_ns ? until : deadline_ns);
    }
}

int ccl_reform(struct myr_ccl *ccl, const struct myr_ccl_reform *how, int64_t deadline_ns,
               struct myr_err *err)
{
    int64_t now = ccl_now(ccl);
    int64_t grace = how->grace_ns > 0 ? how->grace_ns : (deadline_ns - now) / 2;
    struct reforming reforming = {
        .how = how,
        .grace_ns = ccl_later(now, grace),
        .join_ns = ccl_later(now, how->join_ns),
        .member = ccl->epoch != 0,
    };
    ccl->ended = true;
    if (reforming.member) {
        uint64_t ticket;
        if (!ccl_freeze(ccl, &ccl->known->record, &ticket)) {
            int rc = look(ccl, &reforming, err);
            return rc > 0 ? MYR_OK : rc < 0 ? rc : MYR_ESTALE;
        }
        reforming.completed = ccl_view_completed(ccl, ticket);
        ccl_store(ccl, &ccl_place(ccl, ccl->place)->intent, ccl->epoch + 1);
    }
    return wait_for_next(ccl, &reforming, deadline_ns, err);
}
