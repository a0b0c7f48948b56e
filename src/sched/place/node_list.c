#include "myriad/sched/node_list.h"

#include "myriad/text/doc.h"

/* The text up to the separator, which is dropped; all of it where there is none. */
static struct myr_str take_until(struct myr_str *text, char separator)
{
    const char *at = text->len ? memchr(text->data, separator, text->len) : NULL;
    struct myr_str taken = {text->data, at ? (size_t)(at - text->data) : text->len};
    size_t used = taken.len + (at ? 1 : 0);
    *text = (struct myr_str){text->data + used, text->len - used};
    return taken;
}

/* One number is a range of itself. What stands behind a second dash is no number, and refused. */
static bool parse_range(struct myr_str item, uint64_t *ret_first, uint64_t *ret_last)
{
    bool is_range = item.len && memchr(item.data, '-', item.len);
    struct myr_str first = take_until(&item, '-');
    if (!myr_str_to_u64(first, ret_first)) {
        return false;
    }
    *ret_last = *ret_first;
    return !is_range || myr_str_to_u64(item, ret_last);
}

int myr_node_list_parse(const char *name, struct myr_str text, uint32_t nodes, uint64_t *ret,
                        struct myr_err *err)
{
    /* Messages count columns from here. */
    const char *start = text.data;
    do {
        struct myr_str item = take_until(&text, ',');
        uint64_t first = 0, last = 0;
        bool read = parse_range(item, &first, &last);
        if (!read || last < first || last >= nodes) {
            char words[MYR_EXCERPT_MAX];
            return myr_err_set(err, MYR_EINVAL,
                               "%s:1:%zu: '%s' %s, expected such as 3,7-9 below %u", name,
                               (size_t)(item.data - start) + 1, myr_text_excerpt(item, words),
                               !read          ? "is no node or range"
                               : last < first ? "runs backwards"
                                              : "goes beyond the last node",
                               nodes);
        }
        /* Named twice is no error: the bit is there once. */
        for (uint64_t node = first; node <= last; node++) {
            ret[node / 64] |= UINT64_C(1) << node % 64;
        }
    } while (text.len);
    return MYR_OK;
}
