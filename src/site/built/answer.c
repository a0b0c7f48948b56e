#include "myriad/site/built.h"
#include "myriad/text.h"

/* What of the files was not read, for every verb that opens them. */

void myr_built_put(const struct myr_built *built, struct myr_answer *answer)
{
    myr_answer_u64(answer, "truncated_files", built->truncated);
    myr_answer_u64(answer, "tables_passed_over", built->table_count);
    myr_answer_list(answer, "passed_over");
    for (uint32_t i = 0; i < built->table_count; i++) {
        myr_answer_text(answer, NULL, built->tables[i]);
    }
    myr_answer_end(answer);
}

static void put_sentences(const struct myr_built *built, void *context,
                          void (*say)(void *context, const char *sentence))
{
    enum { NAMED_MAX = 12 };
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (built->truncated) {
        myr_buf_printf(&text, "%s %s not whole: what is not listed there is unseen",
                       MYR_COUNT(built->truncated, "text"), built->truncated == 1 ? "is" : "are");
        say(context, text.data);
        myr_buf_clear(&text);
    }
    if (built->table_count == 0) {
        return;
    }
    myr_buf_printf(
        &text, "%s of NetBox without cables passed over: ", MYR_COUNT(built->table_count, "table"));
    for (uint32_t i = 0; i < built->table_count && i < NAMED_MAX; i++) {
        myr_buf_printf(&text, "%s%s", i ? ", " : "", built->tables[i]);
    }
    myr_buf_puts(&text, built->table_count > NAMED_MAX ? ", ..." : "");
    say(context, text.data);
}

static void say_para(void *context, const char *sentence)
{
    myr_answer_para(context, "%s", sentence);
}

void myr_built_say(const struct myr_built *built, struct myr_answer *answer)
{
    put_sentences(built, answer, say_para);
}

static void say_remark(void *context, const char *sentence)
{
    myr_buf_printf(context, "# %s\n", sentence);
}

void myr_built_remarks(const struct myr_built *built, struct myr_buf *buf)
{
    put_sentences(built, buf, say_remark);
}
