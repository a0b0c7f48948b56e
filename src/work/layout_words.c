#include "myriad/work/layout.h"

/* The same keys as in a file: "tp=8,pp=4" is {tp: 8, pp: 4}. */
static void put_flow_map(const char *text, struct myr_buf *buf)
{
    myr_buf_putc(buf, '{');
    for (const char *c = text; *c; c++) {
        if (*c == '=') {
            myr_buf_put_lit(buf, ": ");
        } else {
            myr_buf_putc(buf, *c);
            if (*c == ',') {
                myr_buf_putc(buf, ' ');
            }
        }
    }
    myr_buf_putc(buf, '}');
}

int myr_layout_words(const char *name, const char *text, uint64_t gpus, struct myr_layout *ret,
                     struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf yaml = {0};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {0};
    const struct myr_doc *doc;
    myr_arena_init(&arena);
    put_flow_map(text, &yaml);
    MYR_TRY(myr_doc_read_yaml(&arena, name, (struct myr_str){yaml.data, yaml.len}, &doc, err));
    return myr_layout_parse(doc, gpus, ret, err);
}
