/*
 * fuzz_mute: a server without sockets in a folder of its own, for fuzzers of what is sent to one.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "mute.h"

static struct myr_mute *mute;

/* Its folder goes with it. */
static void end(void)
{
    if (mute) {
        myr_mute_free(mute);
        mute = NULL;
    }
}

static void begin(void)
{
    static bool first = true;
    char folder[64];
    struct myr_err err = {};
    snprintf(folder, sizeof(folder), "%s/myriad-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    MYR_ASSERT(mkdtemp(folder));
    int rc = myr_mute_create(folder, &mute, &err);
    MYR_ASSERT(rc == MYR_OK);
    if (first) {
        first = false;
        (void)atexit(end);
    }
}
