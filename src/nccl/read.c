#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

/* The text of a file ends where its room does, whatever is in it. */
static void copy_text(char *to, const char *from)
{
    memcpy(to, from, MYR_NCCL_TEXT_MAX - 1);
    to[MYR_NCCL_TEXT_MAX - 1] = 0;
}

static void copy_op(struct myr_nccl_op *to, const struct nccl_op *from)
{
    *to = (struct myr_nccl_op){.number = from->number,
                               .seq = from->seq,
                               .count = from->count,
                               .begun_ns = from->begun_ns,
                               .ended_ns = from->ended_ns};
    copy_text(to->kind, from->kind);
    copy_text(to->type, from->type);
}

static void read_open(const struct nccl_state *state, struct myr_nccl_state *ret)
{
    for (uint32_t i = 0; i < NCCL_EVENTS; i++) {
        const struct nccl_slot *slot = &state->slots[i];
        if (slot->kind != NCCL_OP || slot->op.begun_ns <= 0) {
            continue;
        }
        ret->open_count++;
        if (ret->oldest.begun_ns == 0 || slot->op.begun_ns < ret->oldest.begun_ns) {
            copy_op(&ret->oldest, &slot->op);
        }
    }
}

static void read_peers(const struct nccl_state *state, struct myr_nccl_state *ret)
{
    for (uint32_t i = 0; i < MYR_NCCL_PEERS_MAX; i++) {
        const struct nccl_peer *peer = &state->peers[i];
        if (peer->rank > 0) {
            ret->peers[ret->peer_count++] = (struct myr_nccl_peer){
                peer->rank - 1, peer->transfers, peer->total_ns, peer->longest_ns};
        }
    }
}

static int parse(const struct nccl_state *state, const char *path, struct myr_nccl_state *ret,
                 struct myr_err *err)
{
    if (state->magic != NCCL_MAGIC || state->bytes != NCCL_STATE_BYTES || state->version < 1 ||
        state->version > 5 || state->begun < state->ended) {
        return myr_err_set(err, MYR_ECORRUPT, "%s: no state of NCCL's profiler, or damaged", path);
    }
    *ret = (struct myr_nccl_state){.comm = state->comm,
                                   .version = state->version,
                                   .pid = state->pid,
                                   .rank = state->rank,
                                   .ranks = state->ranks,
                                   .nodes = state->nodes,
                                   .begun = state->begun,
                                   .ended = state->ended,
                                   .lost = state->lost};
    copy_text(ret->name, state->name);
    copy_op(&ret->last, &state->last);
    read_open(state, ret);
    read_peers(state, ret);
    return MYR_OK;
}

int myr_nccl_read(const char *path, struct myr_nccl_state *ret, struct myr_err *err)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    /* Read, not mapped: whoever cuts the file off meanwhile does no harm. */
    struct nccl_state *state = calloc(1, NCCL_STATE_BYTES);
    ssize_t length = state ? pread(file, state, NCCL_STATE_BYTES, 0) : -1;
    close(file);
    int rc = !state ? myr_err_set(err, MYR_ENOMEM, "%s: no memory", path)
             : length != (ssize_t)NCCL_STATE_BYTES
                 ? myr_err_set(err, MYR_ECORRUPT, "%s: no state of NCCL's profiler", path)
                 : parse(state, path, ret, err);
    free(state);
    return rc;
}
