#include "replay/schedule.h"

#include "myriad/text/csv.h"

/* "start", or what ends a run: the job is over, or was stopped and waits again. */
static const char *const words[] = {
    [MYR_REPLAY_START] = "start", [MYR_REPLAY_STOP] = "stop", [MYR_REPLAY_END] = "end"};

/* One number, or two with a dash. */
static void put_range(struct myr_buf *buf, uint32_t first, uint32_t last)
{
    if (first == last) {
        myr_buf_printf(buf, "%u", first);
    } else {
        myr_buf_printf(buf, "%u-%u", first, last);
    }
}

/* "3-5:0-7 9:0-1": GPUs 0 to 7 of nodes 3 to 5, and two of node 9. */
static void put_gang(struct myr_buf *buf, const struct myr_gang *gang)
{
    /* Nodes in a run with the same GPUs are one piece, as long as ranks follow the numbers. */
    for (uint32_t i = 0; i < gang->count;) {
        uint32_t end = i + 1;
        while (end < gang->count && gang->shares[end].gpus == gang->shares[i].gpus &&
               gang->shares[end].node == gang->shares[end - 1].node + 1) {
            end++;
        }
        /* GPUs of a node in runs, too: each is a piece of its own. */
        for (uint64_t left = gang->shares[i].gpus; left;) {
            uint32_t first = (uint32_t)__builtin_ctzll(left), last = first;
            while (last < 63 && left >> (last + 1) & 1) {
                last++;
            }
            myr_buf_printf(buf, "%s", left == gang->shares[i].gpus && i == 0 ? "" : " ");
            put_range(buf, gang->shares[i].node, gang->shares[end - 1].node);
            myr_buf_printf(buf, ":");
            put_range(buf, first, last);
            /* A shift by 64 is not defined. */
            left = last == 63 ? 0 : left >> (last + 1) << (last + 1);
        }
        i = end;
    }
}

void replay_schedule_head(struct myr_buf *buf)
{
    myr_buf_printf(buf, "time_s,event,job,line,gpus,nodes\n");
}

void replay_schedule_row(struct myr_buf *buf, const struct myr_joblog *trace,
                         const struct myr_job_row *row, const struct myr_replay_event *event)
{
    struct myr_joblog_note note;
    (void)myr_joblog_note(trace, NULL, row->line, &note);
    myr_buf_printf(buf, "%lld,%s,", (long long)event->time_s, words[event->kind]);
    myr_csv_put_text(buf, note.id); /* read by people, in a spreadsheet */
    myr_buf_printf(buf, ",%u,%u,", row->line, row->gpus);
    put_gang(buf, event->gang);
    myr_buf_printf(buf, "\n");
}
