/*
 * Words about a fabric: any text after --dead, --nodes, --blast or --layout gives one printable
 * line, or ids that the design has. The first byte chooses the reader.
 */
#include "fuzz.h"
#include "myriad/fabric.h"
#include "myriad/plan.h"

static const char spec_text[] = "servers: 4\nserver: h100-8gpu\n"
                                "networks: {compute: {switch: mqm9790}}\n";

struct fabric {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    struct myr_graph graph;
};

static struct fabric *the_fabric(void)
{
    static struct fabric fabric;
    const struct myr_doc *doc;
    struct myr_err err;
    if (!fabric.graph.design) {
        myr_arena_init(&fabric.arena);
        MYR_ASSERT(myr_catalog_init(&fabric.catalog, &fabric.arena, &err) == MYR_OK);
        MYR_ASSERT(myr_doc_read_yaml(&fabric.arena, "spec", myr_str_from(spec_text), &doc, &err) ==
                   MYR_OK);
        MYR_ASSERT(myr_spec_read(&fabric.arena, &fabric.catalog, doc, &fabric.spec, &err) ==
                   MYR_OK);
        MYR_ASSERT(myr_plan(&fabric.arena, &fabric.catalog, &fabric.spec, &fabric.design, &err) ==
                   MYR_OK);
        MYR_ASSERT(myr_graph_init(&fabric.graph, &fabric.arena, &fabric.design, MYR_NET_COMPUTE,
                                  &err) == MYR_OK);
    }
    return &fabric;
}

static void check_line(const struct myr_err *err, int rc)
{
    fuzz_note_error(err);
    MYR_ASSERT(rc < 0 && err->code == rc && err->message[0]);
    MYR_ASSERT(!strchr(err->message, '\n'));
}

static void try_dead(struct fabric *fabric, const char *text)
{
    struct myr_err err = {};
    uint32_t count = 0;
    int rc = myr_words_kill(&fabric->graph, text, &count, &err);
    if (rc < 0) {
        check_line(&err, rc);
    } else {
        fuzz_note("%u dead", count);
        MYR_ASSERT(count <= fabric->design.link_count);
    }
    for (uint32_t link = 0; link < fabric->design.link_count; link++) {
        if (myr_graph_has_link(&fabric->graph, link)) {
            myr_graph_set_link(&fabric->graph, link, false);
        }
    }
}

static void try_nodes(const struct fabric *fabric, const char *text)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    struct myr_err err = {};
    uint32_t *nodes, count;
    myr_arena_init(&scratch);
    int rc = myr_words_nodes(&scratch, &fabric->design, text, &nodes, &count, &err);
    if (rc < 0) {
        check_line(&err, rc);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(nodes[i] < fabric->design.head->nodes);
    }
}

static void try_blast(const struct fabric *fabric, const char *text)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    struct myr_fabric_case look = {.design = fabric->design, .graph = fabric->graph};
    struct myr_blast_rows rows;
    struct myr_err err = {};
    myr_arena_init(&scratch);
    look.arena = scratch;
    int rc = myr_blast_list(&look, text, NULL, &rows, &err);
    scratch = look.arena;
    if (rc < 0) {
        check_line(&err, rc);
    } else {
        for (size_t i = 0; i < rows.count; i++) {
            MYR_ASSERT(rows.items[i].blast.devices <= fabric->design.device_count);
        }
    }
}

static void try_layout(const char *text)
{
    struct myr_layout layout;
    struct myr_err err = {};
    int rc = myr_layout_words("--layout", text, 32, &layout, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "--layout");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[257];
    struct fabric *fabric = the_fabric();
    if (size < 1 || size > sizeof(text)) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 4) {
    case 0:
        try_dead(fabric, text);
        break;
    case 1:
        try_nodes(fabric, text);
        break;
    case 2:
        try_blast(fabric, text);
        break;
    default:
        try_layout(text);
        break;
    }
    return 0;
}
