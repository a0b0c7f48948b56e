/* The YAML reader: any bytes give a sound tree or one clear line. */
#include "fuzz.h"
#include "myriad/text/doc.h"

/* Aliases make large trees from few bytes; beyond this the time is better spent on new input. */
enum { WALK_NODES_MAX = 1000, ASKED_NODES_MAX = 30 };

static const char file[] = "fuzz.yaml";

/* Every accessor must take every node; what they answer is the unit tests' concern. */
static void ask_everything(const struct myr_doc *node)
{
    static const char *const words[] = {"name", "servers", "networks", "switch"};
    uint64_t number;
    double real;
    bool truth;
    uint32_t index;
    struct myr_str text;
    struct myr_err err;
    int results[] = {
        myr_doc_u64(node, "what", 1, 200000, &number, &err),
        myr_doc_double(node, "what", -1.5, 1e9, &real, &err),
        myr_doc_bool(node, "what", &truth, &err),
        myr_doc_text(node, "what", &text, &err),
        myr_doc_choice(node, "what", words, MYR_ARRAY_COUNT(words), &index, &err),
        myr_doc_check_keys(node, "what", words, MYR_ARRAY_COUNT(words), &err),
    };
    if (results[MYR_ARRAY_COUNT(results) - 1] < 0) {
        fuzz_check_error(&err, results[MYR_ARRAY_COUNT(results) - 1], file);
    }
}

/* Returns how many nodes lie below, counting shared ones as often as they are met. */
static uint64_t walk(const struct myr_doc *node, uint32_t level, uint32_t *asked_count)
{
    MYR_ASSERT(level + node->depth <= MYR_DOC_DEPTH_MAX);
    MYR_ASSERT(node->line > 0 && node->column > 0);
    if (*asked_count < ASKED_NODES_MAX) {
        ask_everything(node);
        ++*asked_count;
    }
    bool is_map = node->kind == MYR_DOC_MAP;
    MYR_ASSERT(is_map || node->kind == MYR_DOC_LIST || node->count == 0);
    uint64_t below = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct myr_doc *child = is_map ? node->entries[i].value : node->items[i];
        below += 1 + walk(child, level + 1, asked_count);
    }
    MYR_ASSERT(below == node->expanded);
    return below;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    myr_arena_init(&arena);
    const struct myr_doc *root = NULL;
    struct myr_err err;
    struct myr_str text = {(const char *)data, size};
    int rc = myr_doc_read_yaml(&arena, file, text, &root, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        MYR_ASSERT(!root);
    } else {
        MYR_ASSERT(root->expanded <= MYR_DOC_EXPANDED_MAX);
        if (root->expanded <= WALK_NODES_MAX) {
            uint32_t asked_count = 0;
            walk(root, 0, &asked_count);
        }
    }
    myr_arena_done(&arena);
    return 0;
}
