#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "myriad/study.h"

/* Whole scripts: what a run is told beside its layout, where every option adds its lines. */

static const char *const hosts[] = {"gpu-07", "gpu-01"};
static const char *const head[] = {"What this is.", "A head with a tab\there."};

/* Paths that a shell, TOML, JSON, YAML and Python each read otherwise unless quoted. */
static const struct myr_launch_run runs[] = {
    {.name = "bare", .steps = 10, .node_count = 2, .gpus_per_node = 4},
    {.name = "one node", .steps = 10, .node_count = 1, .gpus_per_node = 8},
    {.name = "all of it",
     .code = "/srv/a \"b\"\\c/it's",
     .data = "/data/to kens$(id)_\"x\"",
     .tokenizer = "/models/tok\\en's",
     .checkpoint = "/ckpt/`w`\"\\",
     .steps = 123456789012,
     .node_count = 2,
     .gpus_per_node = 4,
     .hosts = hosts,
     .head = head,
     .head_count = 2},
};

/* All launchers with one trainer, all trainers with one launcher; what differs is apart. */
static const struct {
    enum myr_trainer trainer;
    enum myr_launcher launcher;
    uint32_t run;
} cases[] = {
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_TORCHRUN, 0},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_TORCHRUN, 1},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_TORCHRUN, 2},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_SRUN, 0},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_SRUN, 2},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_SBATCH, 0},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_SBATCH, 2},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_SUBMIT, 0},
    {MYR_TRAINER_MEGATRON, MYR_LAUNCHER_SUBMIT, 2},
    {MYR_TRAINER_DEEPSPEED, MYR_LAUNCHER_SUBMIT, 0},
    {MYR_TRAINER_DEEPSPEED, MYR_LAUNCHER_SRUN, 2},
    {MYR_TRAINER_TORCHTITAN, MYR_LAUNCHER_SUBMIT, 0},
    {MYR_TRAINER_TORCHTITAN, MYR_LAUNCHER_SRUN, 2},
    {MYR_TRAINER_BRIDGE, MYR_LAUNCHER_SUBMIT, 0},
    {MYR_TRAINER_BRIDGE, MYR_LAUNCHER_SRUN, 2},
};

static void scripts_are_those_that_were_kept(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_buf text = {};
    struct myr_model model;
    struct myr_layout layout = myr_layout_default();
    myr_arena_init(&arena);
    assert_int_equal(myr_model_find(&arena, "llama3-8b", &model, NULL), MYR_OK);
    layout.tp = 2;
    layout.dp = 4;
    layout.global_batch = 64;
    layout.sequence_parallel = true;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_launch *launch = MYR_ARENA_ONE(&arena, struct myr_launch);
        struct myr_launch_case of = {.layout = &layout, .model = &model, .whole = true};
        myr_launch_of(&of, cases[i].trainer, &arena, launch);
        myr_buf_printf(&text, "==== %s, %s, %s\n", myr_trainer_name(cases[i].trainer),
                       myr_launcher_name(cases[i].launcher), runs[cases[i].run].name);
        myr_launch_script(launch, &of, &runs[cases[i].run], cases[i].launcher, &text);
    }
    assert_kept("launch-scripts.txt", &text);
    myr_buf_done(&text);
    myr_arena_done(&arena);
}

/* Slurm takes so long a line of names only from a file. */
static void more_hosts_than_a_line_takes_are_submitted_by_file(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_model model;
    struct myr_layout layout = myr_layout_default();
    const char *many[65];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(many); i++) {
        many[i] = "node";
    }
    myr_arena_init(&arena);
    assert_int_equal(myr_model_find(&arena, "llama3-8b", &model, NULL), MYR_OK);
    for (uint32_t count = 64; count <= 65; count++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        layout.dp = layout.global_batch = count;
        struct myr_launch *launch = MYR_ARENA_ONE(&arena, struct myr_launch);
        struct myr_launch_case of = {.layout = &layout, .model = &model, .whole = true};
        struct myr_launch_run run = {
            .name = "many", .steps = 1, .node_count = count, .gpus_per_node = 1, .hosts = many};
        myr_launch_of(&of, MYR_TRAINER_MEGATRON, &arena, launch);
        myr_launch_script(launch, &of, &run, MYR_LAUNCHER_SBATCH, &text);
        assert_int_equal(strstr(text.data, "--nodelist=node,node") != NULL, count == 64);
        assert_int_equal(strstr(text.data, "--nodefile=FILE") != NULL, count == 65);
    }
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_are_those_that_were_kept),
        cmocka_unit_test(more_hosts_than_a_line_takes_are_submitted_by_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
