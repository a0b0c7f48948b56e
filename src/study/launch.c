#include "launch_list.h"

/*
 * From a layout to a trainer's own words. Each trainer has a writer that fills a list of arguments
 * or keys, environment variables, and notes about what it cannot be told.
 */

/* As --trainer takes them. */
const char *myr_trainer_name(enum myr_trainer trainer)
{
    static const char *const names[] = {"megatron-lm", "deepspeed", "torchtitan",
                                        "megatron-bridge"};
    return names[trainer];
}

/* The arguments that make a trainer run as it was predicted; notes say what it cannot be told. */
void myr_launch_of(const struct myr_launch_case *of, enum myr_trainer trainer,
                   struct myr_arena *arena, struct myr_launch *ret)
{
    *ret = (struct myr_launch){.arena = arena, .trainer = trainer};
    switch (trainer) {
    case MYR_TRAINER_DEEPSPEED:
        launch_deepspeed(of, ret);
        break;
    case MYR_TRAINER_TORCHTITAN:
        launch_torchtitan(of, ret);
        break;
    case MYR_TRAINER_MEGATRON:
    case MYR_TRAINER_BRIDGE: /* the same core: its names are made of these */
    case MYR_TRAINER_COUNT:
        launch_megatron(of, ret);
        break;
    }
}
