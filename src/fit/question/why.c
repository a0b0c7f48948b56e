/* why: two layouts of one question, priced, and the term in which they differ most. */
#include "myriad/fit/why.h"

#include <math.h>

/* A layout of words or of a file, complete and legal. */
static int take(const struct myr_case *it, const char *text, struct myr_arena *arena,
                struct myr_layout *ret, struct myr_err *err)
{
    const struct myr_fit_query *q = &it->query;
    struct myr_layout layout;
    MYR_TRY(myr_layout_given(arena, text, text, q->gpus, &layout, err));
    /* A file says it all; words leave to the question what is not theirs. */
    bool words = strchr(text, '=') && !strchr(text, '/');
    if (words) {
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

int myr_fit_why_of(const struct myr_case *it, const char *const texts[2], struct myr_arena *arena,
                   struct myr_fit_why *ret, struct myr_err *err)
{
    struct myr_fit_why why = {.largest = MYR_FIT_TERM_COUNT};
    for (int i = 0; i < 2; i++) {
        MYR_TRY(take(it, texts[i], arena, &why.layouts[i], err));
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
