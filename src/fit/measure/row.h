/* row: the fields of a table of runs, by column. */
#pragma once

#include "measure/words.h"
#include "myriad/text/csv.h"

/* Columns that are read; their order in the file does not matter. */
/* clang-format off: it does not come to rest on this list */
#define COLUMNS(X)          \
    X(id)                   \
    X(source)               \
    X(software)             \
    X(model)                \
    X(layers)               \
    X(hidden)               \
    X(ffn)                  \
    X(gated)                \
    X(heads)                \
    X(kv_heads)             \
    X(head_dim)             \
    X(vocab)                \
    X(seq)                  \
    X(experts)              \
    X(topk)                 \
    X(shared_experts)       \
    X(moe_ffn)              \
    X(moe_layers)           \
    X(hw)                   \
    X(gpus_per_node)        \
    X(nic_gbps_per_gpu)     \
    X(gpus)                 \
    X(tp)                   \
    X(pp)                   \
    X(cp)                   \
    X(ep)                   \
    X(etp)                  \
    X(dp)                   \
    X(vp)                   \
    X(mbs)                  \
    X(gbs)                  \
    X(sharding)             \
    X(recompute)            \
    X(seq_par)              \
    X(precision)            \
    X(iter_s)               \
    X(tokens_per_s_per_gpu) \
    X(tflops_per_gpu)       \
    X(flops_kind)           \
    X(compile)              \
    X(recompute_modules)    \
    X(dispatcher)           \
    X(tp_overlap)           \
    X(cuda_graphs)          \
    X(token_drop)           \
    X(cpu_offload)          \
    X(fp8_recipe)           \
    X(moe_a2a_overlap)      \
    X(grouped_gemm)         \
    X(peak_mem_gib)         \
    X(recipe_source)        \
    X(task)                 \
    X(arch)                 \
    X(note)
/* clang-format on */

enum fit_column {
#define COLUMN_ENUM(name) COLUMN_##name,
    COLUMNS(COLUMN_ENUM)
#undef COLUMN_ENUM
        COLUMN_COUNT
};

/* The table, and the row at hand in 'csv'. */
struct fit_row {
    struct myr_arena *arena; /* where names and reasons are kept */
    const struct myr_profiles *profiles;
    struct myr_csv csv;   /* the row at hand */
    int at[COLUMN_COUNT]; /* field of each column, or -1 */
};

/* The names of the columns; the next row is then the first of the table. */
MYR_MUST_USE int fit_row_header(struct fit_row *r, struct myr_err *err);
/* A number or a flag that is none: the row is refused, not guessed. NULL when all can be read. */
const char *fit_row_odd(const struct fit_row *r);

/* Without blanks at the ends; empty where there is no such column. */
struct myr_str fit_field(const struct fit_row *r, enum fit_column column);
/* "None" is what some tools write for a number that is missing. */
bool fit_field_none(struct myr_str text);
uint32_t fit_field_count(const struct fit_row *r, enum fit_column column, uint32_t otherwise);
/* As fit_field_count(), but a 0 says nothing either. */
uint32_t fit_field_size(const struct fit_row *r, enum fit_column column, uint32_t otherwise);
/* 0 where there is none. */
double fit_field_number(const struct fit_row *r, enum fit_column column);
