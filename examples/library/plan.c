/*
 * Asks the library what `myriad plan` asks: reads a spec, plans it, and says what was planned.
 *
 *     cc plan.c $(pkg-config --static --cflags --libs myriad) -o plan && ./plan spec.yaml
 */
#include <inttypes.h>
#include <stdio.h>

#include <myriad/plan.h>

static int plan(struct myr_arena *arena, const char *path, struct myr_catalog *catalog,
                struct myr_spec *spec, struct myr_design *ret, struct myr_err *err)
{
    const struct myr_doc *doc;
    int rc = myr_catalog_init(catalog, arena, err);
    if (rc < 0) {
        return rc;
    }
    rc = myr_doc_read_file(arena, path, &doc, err);
    if (rc < 0) {
        return rc;
    }
    rc = myr_spec_read(arena, catalog, doc, spec, err);
    if (rc < 0) {
        return rc;
    }
    return myr_plan(arena, catalog, spec, ret, err);
}

int main(int argc, char **argv)
{
    struct myr_arena arena;
    struct myr_catalog catalog = {0};
    struct myr_spec spec = {0};
    struct myr_design design = {0};
    struct myr_err err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: plan SPEC\n");
        return 2;
    }
    /* The design lives in the arena: it is gone when the arena is. */
    myr_arena_init(&arena);
    int rc = plan(&arena, argv[1], &catalog, &spec, &design, &err);
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.message);
    } else {
        printf("%" PRIu32 " GPUs, %" PRIu32 " devices, %" PRIu32 " cables\n", design.head->gpus,
               design.device_count, design.cable_count);
    }
    myr_spec_done(&spec);
    myr_catalog_done(&catalog);
    myr_arena_done(&arena);
    return rc < 0 ? myr_err_exit_code(rc) : 0;
}
