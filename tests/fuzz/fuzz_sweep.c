/*
 * Sweeps and their journals: the first byte chooses. Any bytes are one line about the file, or
 * points that each make a question.
 */
#include "fuzz.h"
#include "myriad/sim/sweep.h"

static const char plain[] = "topology: fat-tree:k=4\nworkload: 'permutation:{size}'\n"
                            "knobs: {size: [1KB, 1MB]}\nseed: 0-1\n";

static void try_sweep(struct myr_str text)
{
    static const char file[] = "sweep.yaml";
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_sweep sweep;
    struct myr_err err = {};
    myr_arena_init(&arena);
    int rc = myr_sweep_parse(&sweep, &arena, file, text, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        return;
    }
    MYR_ASSERT(sweep.points > 0 && sweep.points <= MYR_SWEEP_POINTS_MAX);
    uint32_t some[] = {0, sweep.points / 2, sweep.points - 1};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(some); i++) {
        struct myr_sim_question question = myr_sweep_question(&sweep, some[i], &arena);
        fuzz_note("%u %s %s", some[i], question.topology ? question.topology : question.design,
                  question.workloads.items[0]);
        fuzz_note("%d %d %llu %d %u %u %u %u %s %u %u %u", (int)question.net,
                  (int)question.balance.policy, (unsigned long long)question.balance.seed,
                  question.balance.polarised, question.queue_pairs, question.efficiency_permille,
                  question.sharing_loss_permille, question.pause_permille,
                  question.message_overhead ? question.message_overhead : "-",
                  question.workloads.count, question.faults.count, question.slow.count);
        MYR_ASSERT(question.workloads.count > 0 && !question.design != !question.topology);
    }
}

static void try_journal(struct myr_str text)
{
    static const char file[] = "result.csv.part-1-of-1";
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf whole = {};
    struct myr_sweep sweep;
    struct myr_sweep_row *rows;
    struct myr_err err = {};
    uint32_t count;
    size_t used;
    myr_arena_init(&arena);
    MYR_ASSERT(myr_sweep_parse(&sweep, &arena, "sweep.yaml", MYR_STR(plain), &err) == MYR_OK);
    /* Rows behind a first line that is right: else nothing would get past it. */
    myr_buf_printf(&whole, "myriad sweep 1,%016llx,%u,1\n", (unsigned long long)sweep.digest,
                   sweep.points);
    myr_buf_put(&whole, text.data, text.len);
    int rc = myr_sweep_journal(&sweep, "1", file, (struct myr_str){whole.data, whole.len}, &arena,
                               &rows, &count, &used, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        return;
    }
    MYR_ASSERT(used <= whole.len && whole.data[used - 1] == '\n');
    for (uint32_t i = 0; i < count; i++) {
        fuzz_note("%u %u %u", rows[i].point, rows[i].job, rows[i].jobs);
        for (uint32_t c = 0; c < MYR_SWEEP_COLUMNS; c++) {
            fuzz_note("%.*s", (int)rows[i].cells[c].len,
                      rows[i].cells[c].data ? rows[i].cells[c].data : "");
        }
        MYR_ASSERT(rows[i].point < sweep.points && rows[i].job < rows[i].jobs);
    }
    MYR_ASSERT(count == 0 || rows[count - 1].job + 1 == rows[count - 1].jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0) {
        struct myr_str text = {(const char *)data + 1, size - 1};
        (data[0] == 'j' ? try_journal : try_sweep)(text);
    }
    return 0;
}
