/*
 * comm: what one training step sends, as rows (kind, axis, collective, bytes, how often, phase).
 *
 * Rows are those of one rank of a stage; all ranks of a stage have the same. The groups of a row's
 * axis come from ranks.h. Rows with one member, no bytes or no repetition are left out.
 *
 * 'bytes' is the size of one operation in the sense of the NCCL tests, per member:
 *   all-reduce      the buffer of each member
 *   all-gather      the whole result
 *   reduce-scatter  the whole input of each member
 *   all-to-all      what each member sends, its own part included
 *   send-receive    the message
 * myr_comm_wire_bytes() turns that into what a member at least has to send.
 *
 * With b micro-batch, s' = s/cp, T = b*s'*h*A (A bytes an element), t = b*s'/tp tokens of a rank
 * under sequence parallelism (b*s' without), m micro-batches a step, L layers of the stage:
 *
 *   tensor    (Shoeybi et al. 2019, section 3; Korthikanti et al. 2022, section 4.2) each of
 *             attention, dense FFN and shared experts, each layer and micro-batch:
 *             all-reduce T forward and T backward; or, with sequence parallelism, all-gather T and
 *             reduce-scatter T forward, two all-gathers and one reduce-scatter backward (the input
 *             is gathered again for the weight's gradient). 'full' repeats the forward ones in the
 *             backward phase. Vocabulary: embedding reduces T, output gathers T; the loss reduces
 *             3 fp32 numbers a token
 *   context   ring: cp-1 messages of the local keys and values, b*s'*(k/tp)*(qk+v)*A, forward;
 *             the same with their gradients, twice the bytes, backward
 *   pipeline  T (T/tp with sequence parallelism) for each boundary and micro-batch, each way
 *   expert    all-to-all t*K*h elements: dispatch, combine; the same for their gradients
 *             (dispatch forward may be FP8, myr_numerics). With etp > 1, all-gather and
 *             reduce-scatter of what arrived
 *   data      P dense and X expert parameters of the rank, R and W bytes each on the way
 *             (Rajbhandari et al. 2020, section 7):
 *             ZeRO-0  all-reduce P*R, X*R
 *             ZeRO-1  reduce-scatter P*R; all-gather P*W, once a step
 *             ZeRO-2  reduce-scatter for each micro-batch, because no whole gradient is kept
 *             ZeRO-3  all-gather forward and backward, reduce-scatter, each micro-batch and layer
 *             HSDP    also all-reduce P*R/shard among replicas
 *   other     gradients of weights repeated over tp (sequence parallelism), of the table shared by
 *             the first and last stage, of DualPipe's two copies; the gradient norm
 */
#pragma once

#include "myriad/work/state.h"

enum myr_collective {
    MYR_ALL_REDUCE,
    MYR_ALL_GATHER,
    MYR_REDUCE_SCATTER,
    MYR_ALL_TO_ALL,
    MYR_SEND_RECEIVE,
    MYR_BROADCAST
};

enum myr_phase { MYR_PHASE_FORWARD, MYR_PHASE_BACKWARD, MYR_PHASE_OPTIMISER };

#define MYR_COMM_KINDS(X)                        \
    X(TP_ATTENTION, "tp-attention")              \
    X(TP_FFN, "tp-ffn") /* shared experts too */ \
    X(TP_EXPERT, "tp-expert")                    \
    X(TP_VOCAB, "tp-vocab")                      \
    X(TP_LOSS, "tp-loss")                        \
    X(TP_GRADIENT, "tp-gradient")                \
    X(CP_KV, "cp-kv")                            \
    X(PP_ACTIVATION, "pp-activation")            \
    X(PP_GRADIENT, "pp-gradient")                \
    X(EP_DISPATCH, "ep-dispatch")                \
    X(EP_COMBINE, "ep-combine")                  \
    X(DP_GRADIENT, "dp-gradient")                \
    X(DP_PARAM, "dp-param")                      \
    X(DP_REPLICA, "dp-replica")                  \
    X(EXPERT_GRADIENT, "expert-gradient")        \
    X(EXPERT_PARAM, "expert-param")              \
    X(EXPERT_REPLICA, "expert-replica")          \
    X(EMBEDDING, "embedding")                    \
    X(MIRROR, "mirror")                          \
    X(GRAD_NORM, "grad-norm")

enum myr_comm_kind {
#define MYR_COMM_ENUM(name, text) MYR_COMM_##name,
    MYR_COMM_KINDS(MYR_COMM_ENUM)
#undef MYR_COMM_ENUM
};

struct myr_comm {
    enum myr_comm_kind kind;
    enum myr_axis axis;
    enum myr_collective collective;
    enum myr_phase phase;
    uint32_t group_size;
    uint64_t bytes; /* one operation; see above */
    uint64_t count; /* operations of a rank in one step */
};

#define MYR_COMM_ROWS_MAX 64

struct myr_comm_list {
    uint32_t count;
    struct myr_comm rows[MYR_COMM_ROWS_MAX];
};

/* Fills the caller's list with the rows of a stage's ranks, ordered by kind. */
void myr_comm_of(const struct myr_layout *layout, const struct myr_model *model, uint32_t stage,
                 struct myr_comm_list *ret);

/*
 * Bytes that a member sends in one operation, at least: 2*(n-1)/n of an all-reduce's size, (n-1)/n
 * of a gather's, scatter's or all-to-all's, a whole message. Rounded up.
 */
uint64_t myr_comm_wire_bytes(const struct myr_comm *row);

const char *myr_comm_kind_name(enum myr_comm_kind kind);
const char *myr_collective_name(enum myr_collective collective);
const char *myr_phase_name(enum myr_phase phase);
