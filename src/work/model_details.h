/* model_details: what trainers must be told of a model, from our files and from config.json. */
#pragma once

#include "myriad/work/model.h"

/* Of our own files: the map 'details'. */
MYR_MUST_USE int myr_work_read_details(const struct myr_doc *doc, struct myr_model_details *ret,
                                       struct myr_err *err);
/* Of a config.json, whose families write it much alike. */
MYR_MUST_USE int myr_work_hf_details(const struct myr_doc *doc, struct myr_model_details *ret,
                                     struct myr_err *err);
