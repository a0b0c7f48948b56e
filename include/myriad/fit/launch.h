/* launch: a layout as the arguments of the trainers that people run. */
#pragma once

#include "myriad/work.h"

enum myr_trainer { MYR_TRAINER_MEGATRON, MYR_TRAINER_DEEPSPEED, MYR_TRAINER_TORCHTITAN };

const char *myr_trainer_name(enum myr_trainer trainer);
/* One line; what the trainer cannot do stands in it as a comment after '#'. */
void myr_launch_write(struct myr_buf *buf, enum myr_trainer trainer,
                      const struct myr_layout *layout, const struct myr_model *model);
/* The same over several lines, ready to paste: at most 76 columns where words allow, lines that go
 * on end in '\\', comments stand behind on lines of their own. */
void myr_launch_write_wrapped(struct myr_buf *buf, enum myr_trainer trainer,
                              const struct myr_layout *layout, const struct myr_model *model);
