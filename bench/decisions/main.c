/*
 * bench_decisions [NODES LEAF_NODES POD_NODES [EVENTS]]: the CPU time of placement decisions on a
 * full, churned cluster, as JSON. Placement alone is measured, in processor time of the thread:
 * what else the machine does makes no difference.
 */
#include <stdio.h>
#include <stdlib.h>

#include "decisions.h"
#include "myriad/text/json.h"

static void put_row(struct myr_json *json, const struct myr_bench_row *row)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "what", myr_bench_kind_name(row->kind));
    myr_json_text(json, "layout", row->layout);
    myr_json_u64(json, "gang_nodes", row->gang_nodes); /* 0: about something else */
    myr_json_u64(json, "decisions", row->decisions);
    myr_json_u64(json, "placed", row->placed);
    myr_json_double(json, "p50_us", row->p50_us, 2);
    myr_json_double(json, "p99_us", row->p99_us, 2);
    myr_json_double(json, "max_us", row->max_us, 2);
    myr_json_end(json);
}

static void put(struct myr_json *json, const struct myr_bench_answer *answer)
{
    myr_json_object(json, NULL);
    myr_json_double(json, "fill_percent", answer->fill_percent, 1);
    myr_json_double(json, "decisions_per_s", answer->decisions_per_s, 0);
    myr_json_list(json, "rows");
    for (uint32_t i = 0; i < answer->row_count; i++) {
        put_row(json, &answer->rows[i]);
    }
    myr_json_end(json);
    if (answer->has_defrag) {
        myr_json_object(json, "defragmentation");
        myr_json_u64(json, "gpus_moved", answer->defrag_gpus_moved);
        myr_json_u64(json, "gpus_least", answer->defrag_gpus_least);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static uint64_t number(char *const *args, int count, int at)
{
    uint64_t value = 0;
    if (at < count && !myr_str_to_u64(myr_str_from(args[at]), &value)) {
        fprintf(stderr, "bench_decisions: '%s' is no number\n", args[at]);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_bench_question question = {
        .cluster = {.nodes = number(argv, argc, 1),
                    .leaf_nodes = number(argv, argc, 2),
                    .pod_nodes = number(argv, argc, 3)},
        .events = argc > 4 ? argv[4] : NULL,
        .seed = 1,
    };
    struct myr_bench_answer answer;
    struct myr_json json;
    struct myr_err err = {};
    struct myr_arena arena = {};
    if (myr_bench_ask(&question, &arena, &answer, &err) < 0) {
        fprintf(stderr, "bench_decisions: %s\n", err.message);
        return 1;
    }
    myr_json_init(&json, &text, MYR_JSON_PRETTY);
    put(&json, &answer);
    puts(text.data);
    myr_arena_done(&arena);
    return 0;
}
