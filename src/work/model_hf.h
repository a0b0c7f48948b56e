/* model_hf: families of Hugging Face configs, one row each. */
#pragma once

#include "keys.h"
#include "myriad/work/model.h"

/* Tables are dense with rows: these words keep a row readable on one line. */
#define REQUIRED true
#define OPTIONAL false
/* A key of a config and the field that it fills; the least value is 1. */
#define ROW(key, member, max, required)                           \
    {                                                             \
        key, offsetof(struct myr_model, member), 1, max, required \
    }
/* A count that some configs write as 0. */
#define ROW_OR_ZERO(key, member, max)                             \
    {                                                             \
        key, offsetof(struct myr_model, member), 0, max, OPTIONAL \
    }

/* One 'model_type': a model begins as 'fixed', takes what 'rows' read, and 'finish' has the end. */
struct hf_family {
    const char *type;              /* 'model_type' of the config */
    const struct key_number *rows; /* a later row for the same field wins */
    size_t row_count;
    int (*finish)(const struct myr_doc *doc, struct myr_model *model,
                  struct myr_err *err); /* what no row can say; never NULL */
    struct myr_model fixed; /* what the family's code has without a key, and its defaults */
};

/* In alphabetical order. */
extern const struct hf_family myr_work_hf_families[];
extern const size_t myr_work_hf_family_count;
