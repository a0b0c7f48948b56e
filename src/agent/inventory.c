/* inventory: what the collecting process has printed, read again; and GPUs that are made up. */
#include "inventory.h"

#include <stdio.h>

#include "myriad/text/doc.h"
#include "myriad/text/kind.h"

/* Read again with every test, so that a test can break a node by changing its file. */
int inventory_pretend(const char *path, struct pretended *ret, struct myr_err *err)
{
    static const char *const keys[] = {"gpus", "gpu_kind", "serial", "broken"};
    /* At most 64, as many as an order's mask of GPUs has bits. */
    struct pretended pretended = {.gpus = 8, .gpu_kind = "pretended"};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *map;
    const struct myr_doc *node;
    myr_arena_init(&arena);
    static const struct myr_doc_want want = {MYR_KINDS_DOC(YAML), "a pretended inventory"};
    MYR_TRY(myr_doc_read_file_of(&arena, path, &want, &map, err));
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "the file", err));
    /* A slip in a key would pretend something else than was meant. */
    MYR_TRY(myr_doc_check_keys(map, NULL, keys, MYR_ARRAY_COUNT(keys), err));
    MYR_TRY(myr_doc_need(map, "the file", "gpus", &node, err));
    MYR_TRY(myr_doc_u64(node, "gpus", 1, 64, &pretended.gpus, err));
    struct myr_str text;
    if ((node = myr_doc_get(map, "gpu_kind"))) {
        MYR_TRY(myr_doc_text(node, "gpu_kind", &text, err));
        snprintf(pretended.gpu_kind, sizeof(pretended.gpu_kind), "%.*s", (int)text.len, text.data);
    }
    if ((node = myr_doc_get(map, "serial"))) {
        MYR_TRY(myr_doc_text(node, "serial", &text, err));
        snprintf(pretended.serial, sizeof(pretended.serial), "%.*s", (int)text.len, text.data);
    }
    if ((node = myr_doc_get(map, "broken"))) {
        MYR_TRY(myr_doc_bool(node, "broken", &pretended.broken, err));
    }
    *ret = pretended;
    return MYR_OK;
}

/* Empty where the node does not say: not every machine has a serial number. */
static struct myr_str text_of(const struct myr_doc *map, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && node->kind == MYR_DOC_SCALAR ? node->text : (struct myr_str){"", 0};
}

/* Texts point into the arena. All GPUs of a node are of the kind of its first. */
int inventory_read(struct myr_arena *arena, struct myr_str json, struct myr_wire_inventory *ret,
                   struct myr_err *err)
{
    const struct myr_doc *map;
    uint64_t cpus;
    uint64_t memory;
    MYR_TRY(myr_doc_read_json(arena, "inventory", json, &map, err));
    MYR_TRY(myr_doc_u64(myr_doc_get(map, "cpus"), "cpus", 0, UINT32_MAX, &cpus, err));
    MYR_TRY(
        myr_doc_u64(myr_doc_get(map, "memory_bytes"), "memory_bytes", 0, UINT64_MAX, &memory, err));
    /* A node without a driver has an empty list; none at all is no inventory. */
    const struct myr_doc *gpus = myr_doc_get(map, "gpus");
    MYR_TRY(myr_doc_expect(gpus, MYR_DOC_LIST, "gpus", err));
    *ret = (struct myr_wire_inventory){.host = text_of(map, "host"),
                                       .serial = text_of(map, "serial"),
                                       .gpu_kind = gpus->count ? text_of(gpus->items[0], "name")
                                                               : (struct myr_str){"", 0},
                                       .gpus = gpus->count,
                                       .cpus = (uint32_t)cpus,
                                       .memory_bytes = memory};
    return MYR_OK;
}
