/*
 * The gate: how an epoch ends, and how far it came.
 *
 * A member that takes ticket t shows a flag (epoch, t); it has completed t when it has seen the
 * flag t of all and the gate *then* open. Who ends the epoch revokes the gate *first* and looks at
 * the flags *after*: so whatever somebody completed with the gate open is seen by him, and the
 * least flag is at least that ticket. He freezes the gate at the least flag; who comes later keeps
 * to that word. So the tickets that have completed are the same for all, without a write on the way
 * of a call that goes well, and a dead member cannot keep anybody from knowing them.
 */
#include "group.h"

bool ccl_is_open(const struct myr_ccl *ccl)
{
    return ccl_load(ccl, &ccl->shared->gate) == ccl_gate(ccl->epoch, CCL_OPEN, 0);
}

void ccl_revoke(struct myr_ccl *ccl, uint64_t epoch)
{
    if (ccl_swap(ccl, &ccl->shared->gate, ccl_gate(epoch, CCL_OPEN, 0),
                 ccl_gate(epoch, CCL_REVOKED, 0))) {
        ccl_ring(ccl);
    }
}

/* The last ticket that the holder of a seat took in the epoch. */
static uint64_t reached(const struct myr_ccl *ccl, const struct ccl_seat *seat, uint64_t epoch)
{
    struct ccl_place *place = ccl_place(ccl, seat->place);
    uint64_t best = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t flag = ccl_load(ccl, &place->lines[i].flag);
        if (ccl_epoch_of(flag) == epoch && ccl_ticket_of(flag) > best) {
            best = ccl_ticket_of(flag);
        }
    }
    return best;
}

bool ccl_freeze(struct myr_ccl *ccl, const struct ccl_record *view, uint64_t *ret_ticket)
{
    for (;;) {
        uint64_t gate = ccl_load(ccl, &ccl->shared->gate);
        if (ccl_epoch_of(gate) < view->epoch) {
            ccl_open(ccl, view->epoch); /* who agreed on the view died before it could */
            continue;
        }
        if (ccl_epoch_of(gate) > view->epoch) {
            return false;
        }
        if (ccl_state_of(gate) == CCL_FROZEN) {
            *ret_ticket = ccl_ticket_of(gate);
            return true;
        }
        if (ccl_state_of(gate) == CCL_OPEN) {
            ccl_revoke(ccl, view->epoch);
            continue;
        }
        uint64_t least = CCL_TICKET_MAX;
        for (uint32_t i = 0; i < view->size; i++) {
            uint64_t ticket = reached(ccl, &view->seats[i], view->epoch);
            least = ticket < least ? ticket : least;
        }
        ccl_swap(ccl, &ccl->shared->gate, gate, ccl_gate(view->epoch, CCL_FROZEN, least));
    }
}

void ccl_open(struct myr_ccl *ccl, uint64_t epoch)
{
    for (;;) {
        uint64_t gate = ccl_load(ccl, &ccl->shared->gate);
        if (ccl_epoch_of(gate) >= epoch || ccl_state_of(gate) != CCL_FROZEN ||
            ccl_swap(ccl, &ccl->shared->gate, gate, ccl_gate(epoch, CCL_OPEN, 0))) {
            return;
        }
    }
}

int ccl_settle(struct myr_ccl *ccl, uint64_t ticket)
{
    if (ccl_is_open(ccl)) {
        return MYR_OK;
    }
    uint64_t frozen;
    bool ours = ccl_freeze(ccl, &ccl->known->record, &frozen);
    return ours && frozen >= ticket ? MYR_OK : MYR_EREFORM;
}
