/*
 * A folder of a test's own, made before each of its cases and gone behind it; for
 * sources that include cmocka.h before.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "disk/files.h"

static char folder[] = "/tmp/myr-agent-XXXXXX";

static inline int make_folder(void **state)
{
    (void)state;
    memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    folder_remove(folder);
    assert_true(folder_is_gone(folder));
    return 0;
}
