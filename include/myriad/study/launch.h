/*
 * launch: a layout as what the trainers that people run have to be told.
 *
 * What a trainer is told is a list of names and values, in its own words: the axes, the model's
 * shape, and every capability that the prediction counted on (the recipe). What it cannot be told,
 * or cannot do, is a note: nothing is left out in silence. Values are plain text; whoever writes
 * them into a script, a TOML or a JSON file quotes them (launch_script.h).
 *
 * Releases: Megatron-LM 0.20, DeepSpeed 0.19 with Megatron-DeepSpeed, torchtitan 0.2, and
 * Megatron-Bridge 0.6. tools/launch/check.py holds what is written here against their own code.
 */
#pragma once

#include "myriad/fit.h"

enum myr_trainer {
    MYR_TRAINER_MEGATRON,
    MYR_TRAINER_DEEPSPEED,
    MYR_TRAINER_TORCHTITAN,
    MYR_TRAINER_BRIDGE,
    MYR_TRAINER_COUNT
};

enum myr_launch_kind {
    MYR_LAUNCH_SWITCH, /* a name alone */
    MYR_LAUNCH_NUMBER,
    MYR_LAUNCH_TEXT,
    MYR_LAUNCH_WORDS, /* several values, separated by blanks */
    MYR_LAUNCH_BOOL   /* "true" or "false" */
};

struct myr_launch_item {
    const char *name, *value;
    enum myr_launch_kind kind;
};

enum { MYR_LAUNCH_ITEMS_MAX = 160, MYR_LAUNCH_NOTES_MAX = 48, MYR_LAUNCH_VARIABLES_MAX = 8 };

struct myr_launch {
    struct myr_arena *arena; /* texts lie in it */
    enum myr_trainer trainer;
    struct myr_launch_item items[MYR_LAUNCH_ITEMS_MAX];  /* of the command, or of the one file */
    struct myr_launch_item config[MYR_LAUNCH_ITEMS_MAX]; /* of a file beside the command */
    struct myr_launch_item variables[MYR_LAUNCH_VARIABLES_MAX]; /* of the environment */
    const char *notes[MYR_LAUNCH_NOTES_MAX];
    uint32_t item_count, config_count, variable_count, note_count;
    uint32_t model_first; /* of the items: where those of the model begin; 0: there are none */
};

/* What was predicted. NULL: not known, and then nothing is said of it. */
struct myr_launch_case {
    const struct myr_layout *layout;
    const struct myr_model *model;
    const struct myr_recipe *recipe;
    const struct myr_device *device;
    const struct myr_stack *stack;
    bool whole; /* the model's own arguments too */
};

const char *myr_trainer_name(enum myr_trainer trainer);

void myr_launch_of(const struct myr_launch_case *of, enum myr_trainer trainer,
                   struct myr_arena *arena, struct myr_launch *ret);

/* One line; notes stand behind '#'. */
void myr_launch_write(const struct myr_launch *launch, struct myr_buf *buf);
/* The same over several lines, ready to paste: at most 76 columns where words allow, lines that go
 * on end in '\\', notes stand behind on lines of their own. */
void myr_launch_write_wrapped(const struct myr_launch *launch, struct myr_buf *buf);

/* A word of a POSIX shell: as it is where nothing in it is special, else in single quotes. */
void myr_launch_quote(struct myr_buf *buf, struct myr_str text);
