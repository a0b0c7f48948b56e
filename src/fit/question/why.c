/* why: two layouts of one question, priced, and the term in which they differ most. */
#include "myriad/fit/why.h"

#include <math.h>

#include "myriad/text/amount.h"

/* Words have a '=' and no '/', as myr_layout_given() has it. */
static bool is_words(const char *text)
{
    return strchr(text, '=') && !strchr(text, '/');
}

/* What a file leaves out is the question's; what it says must be what is asked for. */
static int take_file(const struct myr_case *it, const char *path, struct myr_arena *arena,
                     struct myr_layout *ret, struct myr_err *err)
{
    const struct myr_fit_query *q = &it->query;
    struct myr_layout_rest rest = {q->gpus, q->batch, it->has_seq ? q->seq_tokens : 0};
    const struct myr_doc *doc;
    MYR_TRY(myr_layout_file_open(arena, path, &doc, err));
    MYR_TRY(myr_layout_file_take(doc, &rest, ret, err));
    const struct {
        const char *key;
        uint32_t there, asked;
    } pairs[] = {{"global_batch", ret->global_batch, q->batch},
                 {"sequence", ret->seq_tokens, it->has_seq ? q->seq_tokens : ret->seq_tokens}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        if (pairs[i].there != pairs[i].asked) {
            const struct myr_doc *at = myr_doc_get(myr_doc_get(doc, "layout"), pairs[i].key);
            return myr_doc_error(err, at, MYR_EINVAL, "%s is %u, and %u is asked for", pairs[i].key,
                                 pairs[i].there, pairs[i].asked);
        }
    }
    return MYR_OK;
}

/* A batch of their own would be passed over: it is the question's. */
static int check_words(const char *text, const struct myr_layout *said,
                       const struct myr_fit_query *q, struct myr_err *err)
{
    const char *key = strstr(text, "global_batch=") && said->global_batch != q->batch  ? "--batch"
                      : strstr(text, "sequence=") && said->seq_tokens != q->seq_tokens ? "--seq"
                                                                                       : NULL;
    return !key ? MYR_OK
                : myr_err_set(err, MYR_EINVAL, "%s: both layouts have that of %s", text, key);
}

/* A layout of words or of a file, complete and legal. */
static int take(const struct myr_case *it, const char *text, struct myr_arena *arena,
                struct myr_layout *ret, struct myr_err *err)
{
    const struct myr_fit_query *q = &it->query;
    struct myr_layout layout;
    /* A file says it all; words leave to the question what is not theirs. */
    if (!is_words(text)) {
        MYR_TRY(take_file(it, text, arena, &layout, err));
    } else {
        MYR_TRY(myr_layout_given(arena, text, text, q->gpus, &layout, err));
        MYR_TRY(check_words(text, &layout, q, err));
        layout.global_batch = q->batch;
        layout.seq_tokens = q->seq_tokens;
        layout.precision = strstr(text, "precision=") ? layout.precision : q->precision;
        uint32_t gradient = layout.gradient_bytes;
        myr_fit_habits(&q->it, &layout);
        /* As the search takes it for releases of that line. */
        layout.gradient_bytes = gradient || q->it.stack->era != MYR_ERA_NEMO ? gradient : 2;
    }
    int rc = myr_layout_check(&layout, &it->model, q->gpus, err);
    if (rc < 0) {
        (void)myr_err_wrap(err, "%s", text);
        return rc;
    }
    *ret = layout;
    return MYR_OK;
}

/* Terms of steps that have other work to do say nothing of the layouts. */
static int check_alike(const struct myr_case *it, const char *const texts[2],
                       const struct myr_layout layouts[2], struct myr_err *err)
{
    uint32_t seq[2];
    for (int i = 0; i < 2; i++) {
        seq[i] = myr_layout_seq(&layouts[i], &it->model);
    }
    if (seq[0] == seq[1]) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "%s has sequences of %s, %s of %s", texts[0],
                         MYR_COUNT(seq[0], "token"), texts[1], MYR_COUNT(seq[1], "token"));
    myr_err_hint(err, "layouts are compared on the same work: --seq says the length for both");
    return rc;
}

int myr_fit_why_of(const struct myr_case *it, const char *const texts[2], struct myr_arena *arena,
                   struct myr_fit_why *ret, struct myr_err *err)
{
    struct myr_fit_why why = {.largest = MYR_FIT_TERM_COUNT};
    for (int i = 0; i < 2; i++) {
        MYR_TRY(take(it, texts[i], arena, &why.layouts[i], err));
    }
    MYR_TRY(check_alike(it, texts, why.layouts, err));
    for (int i = 0; i < 2; i++) {
        MYR_TRY(myr_case_price(it, &why.layouts[i], NULL, arena, &why.prices[i], err));
    }
    double most = 0;
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        double apart = fabs(why.prices[1].cost.terms_s[i] - why.prices[0].cost.terms_s[i]);
        why.largest = apart > most ? (enum myr_fit_term)i : why.largest;
        most = apart > most ? apart : most;
    }
    *ret = why;
    return MYR_OK;
}
