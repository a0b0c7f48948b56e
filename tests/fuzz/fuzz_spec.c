/* Specs: any bytes give one clear line, or a plan that holds together. */
#include "fuzz_plan.h"

static const char file[] = "fuzz.yaml";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct myr_catalog *catalog = fuzz_catalog();
    struct myr_arena arena;
    struct myr_spec spec;
    const struct myr_doc *doc;
    struct myr_err err;
    myr_arena_init(&arena);
    int rc =
        myr_doc_read_yaml(&arena, file, (struct myr_str){(const char *)data, size}, &doc, &err);
    rc = rc < 0 ? rc : myr_spec_read(&arena, catalog, doc, &spec, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        fuzz_plan(catalog, &spec, file);
        myr_spec_done(&spec);
    }
    myr_arena_done(&arena);
    return 0;
}
