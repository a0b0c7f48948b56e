/*
 * Design files: any bytes give one clear line, or a design that can be walked without a look at the
 * bounds. An image is tried as it is and once more with all checksums made right: what they guard
 * must hold by itself, since anybody can compute a checksum.
 */
#include <stdlib.h>

#include "fuzz_image.h"
#include "fuzz_plan.h"
#include "myriad/physical.h"

static const char file[] = "fuzz.myr";

/* Read once: the parts do not change. */
static const struct myr_catalog *parts(void)
{
    static struct myr_catalog catalog;
    static struct myr_arena arena;
    if (!catalog.arena) {
        myr_arena_init(&arena);
        MYR_ASSERT(myr_catalog_init(&catalog, &arena, NULL) == MYR_OK);
    }
    return &catalog;
}

/* A file may hold what no planner writes: the checker has to bear it, and the flows too. */
static void check(const struct myr_design *design)
{
    struct myr_arena arena;
    struct myr_physical physical;
    myr_arena_init(&arena);
    myr_physical_check(&arena, parts(), design, &physical);
    myr_physical_done(&physical);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        struct myr_bisection halves;
        myr_physical_bisection(design, net, &halves);
    }
    myr_arena_done(&arena);
}

static void parse(void *image, size_t bytes)
{
    struct myr_design design;
    struct myr_err err;
    int rc = myr_design_parse(&design, image, bytes, file, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        fuzz_use_design(&design, false);
        check(&design);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Exact size, so that a sanitizer sees a read past the end; aligned as a mapping is. */
    void *image = NULL;
    MYR_ASSERT(posix_memalign(&image, IMAGE_ALIGN, size ? size : 1) == 0);
    memcpy(image, data, size);
    parse(image, size);
    fuzz_image_mend(image, size);
    parse(image, size);
    free(image);
    return 0;
}
