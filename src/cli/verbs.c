/* verbs: all verbs in the order of the overview, sub-verbs behind their verb. */
#include "bench/bench.h"
#include "cli.h"
#include "fit/fit.h"
#include "goodput/goodput.h"

static const struct cli_verb *const verbs[] = {
    &cli_plan_verb,
    &cli_design_verb,
    &cli_catalog_verb,

    &cli_route_verb,
    &cli_route_failover_verb,
    &cli_route_degraded_verb,
    &cli_route_blast_verb,
    &cli_route_tables_verb,
    &cli_route_apply_verb,
    &cli_path_verb,
    &cli_sim_verb,
    &cli_sim_contention_verb,
    &cli_fit_verb,
    &cli_fit_curve_verb,
    &cli_fit_validate_verb,
    &cli_fit_calibrate_verb,
    &cli_fit_compare_verb,
    &cli_fit_constants_verb,
    &cli_fit_models_verb,
    &cli_fit_devices_verb,
    &cli_goodput_verb,
    &cli_goodput_classes_verb,
    &cli_goodput_parts_verb,
    &cli_goodput_data_verb,
    &cli_bench_verb,
    &cli_bench_gpu_verb,

    &cli_export_verb,
    &cli_verify_verb,
    &cli_bind_verb,

    &cli_sched_verb,
    &cli_sched_place_verb,
    &cli_sched_replay_verb,
    &cli_sched_bench_verb,

    &cli_commands_verb,
    &cli_completion_verb,
    &cli_man_verb,
};

const struct cli_verb *const *cli_verbs(uint32_t *ret_count)
{
    *ret_count = MYR_ARRAY_COUNT(verbs);
    return verbs;
}
