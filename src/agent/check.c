/*
 * check: every text that an agent reads from outside or from its disk, behind one door, for
 * programs that feed it random bytes. What was read is held against what is written of it.
 */
#include "disk/order.h"
#include "disk/progress.h"
#include "enrol.h"
#include "inventory.h"
#include "myriad/agent.h"
#include "myriad/job.h"
#include "shim/peers.h"
#include "stops.h"

/* A pattern that was taken must also match in bounded time: it is tried on a line. */
static int check_job(struct myr_str bytes, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_jobfile job;
    struct myr_step_pattern pattern = {};
    uint64_t step;
    myr_arena_init(&arena);
    MYR_TRY(myr_jobfile_read(&arena, MYR_JOBFILE_TAKEN("job file"), bytes, &job, err));
    /* What a launcher takes for granted of every job file that was read. */
    MYR_ASSERT(job.command.argv[0][0] && job.env.words);
    MYR_TRY(progress_pattern_init(&pattern, job.progress.pattern, err));
    /* The line that the default pattern is for. */
    (void)myr_step_pattern_match(&pattern, " iteration       12/     100 | consumed samples",
                                 &step);
    myr_step_pattern_done(&pattern);
    return MYR_OK;
}

/* What was read, written again, reads the same. */
static int check_order(struct myr_str bytes, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct order order;
    struct order again;
    MYR_TRY(order_read("order", bytes, &order, err));
    order_write(&order, &text);
    int rc = order_read("order", (struct myr_str){text.data, text.len}, &again, err);
    MYR_ASSERT(rc == MYR_OK && again.job == order.job && again.gpus == order.gpus &&
               again.epoch == order.epoch && myr_str_eq(again.spec, order.spec));
    MYR_ASSERT(order_ranks(&order) > 0 && order_ranks(&order) <= AGENT_RANKS_MAX);
    return MYR_OK;
}

/* As an order: written again it reads the same. */
static int check_ending(struct myr_str bytes, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct ending ending;
    struct ending again;
    MYR_TRY(ending_read("exit", bytes, &ending, err));
    ending_write(&ending, &text);
    int rc = ending_read("exit", (struct myr_str){text.data, text.len}, &again, err);
    MYR_ASSERT(rc == MYR_OK && again.kind == ending.kind && again.code == ending.code);
    return MYR_OK;
}

/* Nothing is refused here: lines that make no sense are passed over. */
static int check_stops(struct myr_str bytes)
{
    struct stops stops = {.fd = -1};
    stops_read(&stops, bytes);
    for (size_t i = 0; i < stops.items.count; i++) {
        MYR_ASSERT(stops_has(&stops, stops.items.items[i].job, stops.items.items[i].epoch));
    }
    /* However long the text was. */
    MYR_ASSERT(stops.items.count <= STOPS_MAX);
    stops_done(&stops);
    return MYR_OK;
}

/* From a user's program; it becomes a file of the launcher's, and must survive that. */
static int check_datagram(struct myr_str bytes, struct myr_err *err)
{
    /* Not 0, so that a change would be seen. */
    struct progress progress = {.step = 5, .saved = 4};
    if (!progress_parse(bytes, &progress)) {
        /* What is refused changes nothing. */
        MYR_ASSERT(progress.step == 5 && progress.saved == 4 && !progress.phase[0]);
        return myr_err_set(err, MYR_EINVAL,
                           "progress: 'step N [saved N] [phase WORD]' is expected");
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct progress again;
    progress_write(&progress, &text);
    bool good = progress_read((struct myr_str){text.data, text.len}, &again);
    MYR_ASSERT(good && again.step == progress.step && again.saved == progress.saved);
    MYR_ASSERT(strcmp(again.phase, progress.phase) == 0);
    return MYR_OK;
}

/* Only whether it is taken; a broken invariant ends the program, which is what is looked for. */
int myr_agent_check(enum myr_agent_text kind, struct myr_str bytes, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct progress progress;
    struct enrol_token token;
    struct myr_wire_inventory inventory;
    int64_t age_ms;
    myr_arena_init(&arena);
    switch (kind) {
    case MYR_AGENT_JOB_FILE:
        return check_job(bytes, err);
    case MYR_AGENT_ORDER:
        return check_order(bytes, err);
    case MYR_AGENT_ENDING:
        return check_ending(bytes, err);
    case MYR_AGENT_STOPS:
        return check_stops(bytes);
    case MYR_AGENT_PROGRESS:
        return progress_read(bytes, &progress)
                   ? MYR_OK
                   : myr_err_set(err, MYR_ECORRUPT, "progress: does not say how far it is");
    case MYR_AGENT_DATAGRAM:
        return check_datagram(bytes, err);
    case MYR_AGENT_PEER:
        return peers_parse(bytes, 1, 2, &age_ms)
                   ? MYR_OK
                   : myr_err_set(err, MYR_EINVAL, "step-age: 'step-age JOB EPOCH MS' is expected");
    case MYR_AGENT_TOKEN:
        return enrol_token_read(bytes, &token, err);
    case MYR_AGENT_INVENTORY:
        return inventory_read(&arena, bytes, &inventory, err);
    case MYR_AGENT_TEXTS:
        break;
    }
    return myr_err_set(err, MYR_EINVAL, "no such text");
}
