/*
 * row: fields of a table by column, wherever the columns stand. Reading is lenient (blanks, case,
 * "8.0", "1,024"), but what is no number is told and never taken for one.
 */
#include "measure/row.h"

#define FIELD_MAX 2000000U /* of any size in a row: three of them multiply within 64 bits */

/* The columns of row.h, in the order of their enum. */
static const char *const column_names[] = {
#define COLUMN_NAME(name) #name,
    COLUMNS(COLUMN_NAME)
#undef COLUMN_NAME
};

struct myr_str fit_field(const struct fit_row *r, enum fit_column column)
{
    /* A row may end before a column of its header: that field is empty. */
    int at = r->at[column];
    bool there = at >= 0 && (uint32_t)at < r->csv.count;
    return there ? fit_word_trim(r->csv.fields[at]) : (struct myr_str){"", 0};
}

bool fit_field_none(struct myr_str text)
{
    return fit_word_open(text) || fit_word_is(text, "none");
}

/* 'otherwise' for what is open and for what cannot be read, which fit_row_odd() has told. */
uint32_t fit_field_count(const struct fit_row *r, enum fit_column column, uint32_t otherwise)
{
    uint64_t value;
    struct myr_str text = fit_field(r, column);
    if (fit_field_none(text) || !fit_word_whole(text, &value) || value > UINT32_MAX) {
        return otherwise;
    }
    return (uint32_t)value;
}

/* The first flag that is neither yes nor no nor open, in words; NULL: there is none. */
static const char *odd_flag(const struct fit_row *r)
{
    static const enum fit_column flags[] = {COLUMN_gated, COLUMN_seq_par};
    char excerpt[MYR_EXCERPT_MAX];
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(flags); i++) {
        struct myr_str text = fit_field(r, flags[i]);
        if (!fit_word_open(text) && !fit_word_yes(text) && !fit_word_no(text)) {
            return myr_arena_printf(r->arena, "%s '%s' is neither yes nor no",
                                    column_names[flags[i]], myr_text_excerpt(text, excerpt));
        }
    }
    return NULL;
}

/* A number that is none stays no secret: the row is refused, not guessed. */
static const char *odd_number(const struct fit_row *r)
{
    static const enum fit_column counts[] = {COLUMN_layers,     COLUMN_hidden,
                                             COLUMN_ffn,        COLUMN_heads,
                                             COLUMN_kv_heads,   COLUMN_head_dim,
                                             COLUMN_vocab,      COLUMN_seq,
                                             COLUMN_experts,    COLUMN_topk,
                                             COLUMN_moe_ffn,    COLUMN_shared_experts,
                                             COLUMN_moe_layers, COLUMN_gpus_per_node,
                                             COLUMN_gpus,       COLUMN_tp,
                                             COLUMN_pp,         COLUMN_cp,
                                             COLUMN_ep,         COLUMN_etp,
                                             COLUMN_dp,         COLUMN_vp,
                                             COLUMN_mbs,        COLUMN_gbs};
    /* Measured numbers, which need not be whole. */
    static const enum fit_column rates[] = {COLUMN_nic_gbps_per_gpu, COLUMN_iter_s,
                                            COLUMN_tokens_per_s_per_gpu, COLUMN_tflops_per_gpu,
                                            COLUMN_peak_mem_gib};
    char excerpt[MYR_EXCERPT_MAX];
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        struct myr_str text = fit_field(r, counts[i]);
        uint64_t value;
        if (!fit_field_none(text) && (!fit_word_whole(text, &value) || value > FIELD_MAX)) {
            return myr_arena_printf(r->arena, "%s '%s' is no whole number up to %u",
                                    column_names[counts[i]], myr_text_excerpt(text, excerpt),
                                    FIELD_MAX);
        }
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rates); i++) {
        struct myr_str text = fit_field(r, rates[i]);
        double value;
        if (!fit_field_none(text) &&
            (!myr_str_to_double(text, &value) || value < 0 || value > 1e12)) {
            return myr_arena_printf(r->arena, "%s '%s' is no number from 0 to 1e12",
                                    column_names[rates[i]], myr_text_excerpt(text, excerpt));
        }
    }
    return NULL;
}

/* A 0 is what tables write for a model without experts: of one that has them it says nothing. */
uint32_t fit_field_size(const struct fit_row *r, enum fit_column column, uint32_t otherwise)
{
    uint32_t value = fit_field_count(r, column, 0);
    return value ? value : otherwise;
}

double fit_field_number(const struct fit_row *r, enum fit_column column)
{
    double value;
    return myr_str_to_double(fit_field(r, column), &value) && value > 0 ? value : 0;
}

const char *fit_row_odd(const struct fit_row *r)
{
    const char *number = odd_number(r);
    return number ? number : odd_flag(r);
}

/* Without these columns no row could be read: an error of the file, not of its rows. */
int fit_row_header(struct fit_row *r, struct myr_err *err)
{
    static const enum fit_column needed[] = {COLUMN_software, COLUMN_hw, COLUMN_gpus, COLUMN_gbs};
    int rows = myr_csv_header(&r->csv, err);
    MYR_TRY(rows);
    if (rows == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: no rows", r->csv.file);
    }
    /* Columns that nobody reads are passed over; of two with one name the last counts. */
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        r->at[c] = -1;
        for (uint32_t i = 0; i < r->csv.count; i++) {
            if (fit_word_is(fit_word_trim(r->csv.fields[i]), column_names[c])) {
                r->at[c] = (int)i;
            }
        }
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(needed); i++) {
        if (r->at[needed[i]] < 0) {
            return myr_csv_error(err, &r->csv, 0, "column '%s' is missing",
                                 column_names[needed[i]]);
        }
    }
    if (r->at[COLUMN_model] < 0 && r->at[COLUMN_layers] < 0) {
        return myr_csv_error(err, &r->csv, 0,
                             "column 'model' (a built-in name) or 'layers' is missing");
    }
    return MYR_OK;
}
