#include "record.h"

#include <stddef.h>
#include <string.h>

void nccl_state_init(struct nccl_state *state, uint32_t version, uint32_t pid)
{
    state->bytes = NCCL_STATE_BYTES;
    state->version = version;
    state->pid = pid;
    state->rank = state->ranks = state->nodes = -1;
    for (uint32_t i = 0; i < NCCL_EVENTS; i++) {
        state->slots[i].index = i;
        state->slots[i].next = i + 1 < NCCL_EVENTS ? i + 2 : 0;
    }
    atomic_store(&state->free, 1);
    atomic_store(&state->magic, NCCL_MAGIC);
}

struct nccl_state *nccl_state_of(struct nccl_slot *slot)
{
    struct nccl_slot *first = slot - slot->index;
    return (struct nccl_state *)((char *)first - offsetof(struct nccl_state, slots));
}

struct nccl_slot *nccl_slot_at(struct nccl_state *state, const void *address)
{
    uintptr_t first = (uintptr_t)state->slots, at = (uintptr_t)address;
    if (at < first || at >= first + sizeof(state->slots) ||
        (at - first) % sizeof(struct nccl_slot) != 0) {
        return NULL;
    }
    return &state->slots[(at - first) / sizeof(struct nccl_slot)];
}

struct nccl_slot *nccl_take(struct nccl_state *state, enum nccl_kind kind, int64_t now_ns)
{
    uint64_t head = atomic_load(&state->free);
    for (;;) {
        uint32_t index = (uint32_t)head;
        if (index == 0) {
            atomic_fetch_add(&state->lost, 1);
            return NULL;
        }
        struct nccl_slot *slot = &state->slots[index - 1];
        uint64_t next = (head >> 32) + 1;
        next = next << 32 | atomic_load(&slot->next);
        if (atomic_compare_exchange_weak(&state->free, &head, next)) {
            slot->parent = 0;
            slot->chained = NULL;
            slot->begun_ns = now_ns;
            slot->captured = 0;
            slot->op.begun_ns = 0; /* nobody may read it as an operation yet */
            atomic_store(&slot->kind, kind);
            return slot;
        }
    }
}

static void give_back(struct nccl_state *state, struct nccl_slot *slot)
{
    atomic_store(&slot->kind, NCCL_FREE);
    atomic_fetch_add(&slot->generation, 1);
    uint64_t head = atomic_load(&state->free), next;
    do {
        atomic_store(&slot->next, (uint32_t)head);
        next = (head >> 32) + 1;
        next = next << 32 | (slot->index + 1);
    } while (!atomic_compare_exchange_weak(&state->free, &head, next));
}

static void copy_text(char *to, const char *from)
{
    size_t length = from ? strnlen(from, MYR_NCCL_TEXT_MAX - 1) : 0;
    memcpy(to, from ? from : "", length);
    to[length] = 0;
}

void nccl_begin(struct nccl_state *state, struct nccl_slot *op, const struct nccl_begin *begin)
{
    struct nccl_op *said = &op->op;
    said->number = begin->collective ? atomic_fetch_add(&state->begun, 1) + 1 : 0;
    said->seq = begin->seq;
    said->count = begin->count;
    said->ended_ns = 0;
    copy_text(said->kind, begin->kind);
    copy_text(said->type, begin->type);
    /* Kernels that are captured run later, and as often as somebody likes, without telling. */
    bool kernels = atomic_load(&state->channels_seen) && !begin->captured;
    int32_t channels = kernels ? (int32_t)begin->channels : 0;
    atomic_store(&op->channels, channels);
    atomic_store(&op->waits, 1 + channels);
    said->begun_ns = op->begun_ns;
    if (begin->collective) {
        state->last = *said;
    }
}

static void finish(struct nccl_state *state, struct nccl_slot *op, int64_t now_ns)
{
    op->op.ended_ns = now_ns;
    uint64_t at = atomic_fetch_add(&state->ended_next, 1);
    state->ended_ops[at % NCCL_ENDED] = op->op;
    if (op->op.number > 0) {
        atomic_fetch_add(&state->ended, 1);
    }
    give_back(state, op);
}

static void release(struct nccl_state *state, struct nccl_slot *op, int64_t now_ns)
{
    if (atomic_fetch_sub(&op->waits, 1) == 1) {
        finish(state, op, now_ns);
    }
}

void nccl_attach(struct nccl_state *state, struct nccl_slot *slot, const void *parent)
{
    struct nccl_slot *op = nccl_slot_at(state, parent);
    if (atomic_load(&slot->kind) == NCCL_CHANNEL) {
        atomic_store(&state->channels_seen, 1);
    }
    if (!op || atomic_load(&op->kind) != NCCL_OP) {
        return;
    }
    if (atomic_load(&slot->kind) == NCCL_TRANSFER) {
        /* One more to wait for, unless it was the last that was waited for just now. */
        int32_t waits = atomic_load(&op->waits);
        while (waits > 0 && !atomic_compare_exchange_weak(&op->waits, &waits, waits + 1)) {
        }
        if (waits <= 0) {
            return;
        }
    }
    slot->parent = op->index + 1;
    slot->parent_generation = atomic_load(&op->generation);
}

static void note_transfer(struct nccl_state *state, const struct nccl_slot *slot, int64_t now_ns)
{
    int64_t took = now_ns - slot->begun_ns;
    for (uint32_t i = 0; i < MYR_NCCL_PEERS_MAX; i++) {
        struct nccl_peer *peer = &state->peers[((uint32_t)slot->peer + i) % MYR_NCCL_PEERS_MAX];
        int32_t nobody = 0, who = slot->peer + 1;
        if (atomic_load(&peer->rank) == who ||
            atomic_compare_exchange_strong(&peer->rank, &nobody, who) || nobody == who) {
            atomic_fetch_add(&peer->transfers, 1);
            atomic_fetch_add(&peer->total_ns, took);
            int64_t longest = atomic_load(&peer->longest_ns);
            while (took > longest &&
                   !atomic_compare_exchange_weak(&peer->longest_ns, &longest, took)) {
            }
            return;
        }
    }
    atomic_fetch_add(&state->lost, 1);
}

/* A channel that was not counted in must not end an operation before its time. */
static bool take_channel(struct nccl_slot *op)
{
    int32_t left = atomic_load(&op->channels);
    while (left > 0 && !atomic_compare_exchange_weak(&op->channels, &left, left - 1)) {
    }
    return left > 0;
}

void nccl_end(struct nccl_state *state, struct nccl_slot *slot, int64_t now_ns)
{
    uint32_t kind = atomic_load(&slot->kind);
    if (kind == NCCL_OP) {
        release(state, slot, now_ns);
        return;
    }
    if (kind == NCCL_FREE) {
        return; /* was ended before */
    }
    if (kind == NCCL_TRANSFER && slot->peer >= 0) {
        note_transfer(state, slot, now_ns);
    }
    struct nccl_slot *op = slot->parent > 0 ? &state->slots[slot->parent - 1] : NULL;
    if (op && atomic_load(&op->generation) == slot->parent_generation &&
        atomic_load(&op->kind) == NCCL_OP && (kind == NCCL_TRANSFER || take_channel(op))) {
        release(state, op, now_ns);
    }
    give_back(state, slot);
}
