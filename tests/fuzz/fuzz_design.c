/*
 * Design files: any bytes give one clear line, or a design that can be walked without a look at the
 * bounds. An image is tried as it is and once more with all checksums made right: what they guard
 * must hold by itself, since anybody can compute a checksum.
 */
#include <stdlib.h>

#include "fuzz_image.h"
#include "fuzz_plan.h"

static const char file[] = "fuzz.myr";

static void parse(void *image, size_t bytes)
{
    struct myr_design design;
    struct myr_err err;
    int rc = myr_design_parse(&design, image, bytes, file, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        fuzz_use_design(&design, false);
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
