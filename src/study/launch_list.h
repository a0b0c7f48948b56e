/* launch_list: how the trainers' writers fill a list; private to the module. */
#pragma once

#include "myriad/study/launch.h"

#define LAUNCH_FORMAT(n) __attribute__((format(printf, n, n + 1)))

/* A name alone; a number; text that is formatted; and the same for the file beside a command. */
void launch_switch(struct myr_launch *l, const char *name);
void launch_number(struct myr_launch *l, const char *name, uint64_t value);
void launch_put(struct myr_launch *l, enum myr_launch_kind kind, const char *name,
                const char *format, ...) LAUNCH_FORMAT(4);
void launch_config(struct myr_launch *l, enum myr_launch_kind kind, const char *name,
                   const char *format, ...) LAUNCH_FORMAT(4);
void launch_note(struct myr_launch *l, const char *format, ...) LAUNCH_FORMAT(2);
void launch_variable(struct myr_launch *l, const char *name, const char *value);
/* Whether an argument is in the list by now: later ones depend on earlier ones. */
bool launch_has(const struct myr_launch *l, const char *name);

/* The order of ranks that trainers have by themselves: tp fastest, pipeline stages slowest. */
bool launch_usual_order(const struct myr_layout *layout);
/* Says that the launcher has to put ranks in order, as the trainer cannot. */
void launch_note_order(struct myr_launch *l);
/* Whether the device is an Ascend, whose trainers have words of their own. */
bool launch_is_ascend(const struct myr_launch_case *of);
/* A value of the recipe, or 'otherwise' where nothing is known of it. */
uint32_t launch_recipe(const struct myr_launch_case *of, enum myr_capability capability,
                       uint32_t otherwise);
/* A number as short as it is exact enough: 10000, 0.25, 1e-06. */
const char *launch_double(struct myr_launch *l, double value);

/* How long lines are that go on, and those of a script, which may stand in a block of YAML. */
enum { LAUNCH_WIDTH = 76, LAUNCH_WIDTH_INSIDE = 70 };

/* Items as words of a shell; as JSON; and text on lines of at most so many columns. */
void launch_put_items(const struct myr_launch_item *items, uint32_t count, struct myr_buf *buf);
void launch_put_json(const struct myr_launch_item *items, uint32_t count, struct myr_buf *buf);
void launch_put_words(struct myr_buf *buf, struct myr_str text, size_t width, const char *end,
                      const char *start);

/* What of a model a trainer's layers have not, so that another one would train; or NULL. */
const char *launch_titan_lacks(const struct myr_model *model);
const char *launch_deepspeed_lacks(const struct myr_model *model);

/* The trainers. */
void launch_megatron(const struct myr_launch_case *of, struct myr_launch *l);
void launch_megatron_model(const struct myr_launch_case *of, struct myr_launch *l);
void launch_deepspeed(const struct myr_launch_case *of, struct myr_launch *l);
void launch_torchtitan(const struct myr_launch_case *of, struct myr_launch *l);
