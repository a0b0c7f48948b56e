#include "myriad/text/doc.h"
#include "myriad/text/json.h"
#include "yaml_plain.h"

/*
 * A tree as YAML in block style. Depth is bounded by MYR_DOC_DEPTH_MAX, so recursion is safe.
 */

/* What was quoted keeps its quotes only where YAML would read it otherwise without them. */
static void put_scalar(struct myr_buf *buf, const struct myr_doc *node)
{
    if (node->kind == MYR_DOC_NULL) {
        myr_buf_put_lit(buf, "null");
    } else if (!node->quoted || is_plain_yaml(node->text)) {
        myr_buf_put(buf, node->text.data, node->text.len);
    } else {
        myr_json_quote(buf, node->text);
    }
}

/* Two blanks a level. */
static void indent(struct myr_buf *buf, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        myr_buf_put_lit(buf, "  ");
    }
}

/* 'open' is true where the first line goes on behind what is already written ("- "). */
static void put_node(struct myr_buf *buf, const struct myr_doc *node, uint32_t depth, bool open)
{
    if (node->kind == MYR_DOC_MAP || node->kind == MYR_DOC_LIST) {
        for (uint32_t i = 0; i < node->count; i++) {
            bool map = node->kind == MYR_DOC_MAP;
            const struct myr_doc *child = map ? node->entries[i].value : node->items[i];
            /* An empty list or map stays on the line of its key: it has no lines of its own. */
            bool nested = child->count > 0;
            if (i > 0 || !open) {
                indent(buf, depth);
            }
            if (map) {
                struct myr_str key = node->entries[i].key;
                if (is_plain_yaml(key)) {
                    myr_buf_put(buf, key.data, key.len);
                } else {
                    myr_json_quote(buf, key);
                }
                myr_buf_puts(buf, nested ? ":\n" : ": ");
                put_node(buf, child, depth + 1, false);
            } else {
                myr_buf_put_lit(buf, "- ");
                /* An item that is a map or list begins on the line of its dash. */
                put_node(buf, child, depth + 1, true);
            }
        }
        if (node->count == 0) {
            myr_buf_puts(buf, node->kind == MYR_DOC_MAP ? "{}\n" : "[]\n");
        }
        return;
    }
    put_scalar(buf, node);
    myr_buf_putc(buf, '\n');
}

/* What is written reads back as the same values; remarks and anchors are gone. */
void myr_doc_write_yaml(const struct myr_doc *node, struct myr_buf *buf)
{
    MYR_ASSERT(node->depth <= MYR_DOC_DEPTH_MAX);
    put_node(buf, node, 0, false);
}
