/* model_read: what the readers of a model share. */
#pragma once

#include "myriad/work/model.h"

/* Fills what follows from other fields (kv heads, head width), then checks everything. */
MYR_MUST_USE int myr_work_model_finish(const struct myr_doc *doc, struct myr_model *model,
                                       struct myr_err *err);

/* A Hugging Face config.json: 'doc' is a map with a key 'model_type'. */
MYR_MUST_USE int myr_work_model_from_hf(struct myr_arena *arena, const struct myr_doc *doc,
                                        struct myr_model *ret, struct myr_err *err);
