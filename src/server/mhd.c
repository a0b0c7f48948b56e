/* mhd: loads libmicrohttpd and finds its calls, all or none. */
#include "mhd.h"

#include <dlfcn.h>

#define LIBRARY "libmicrohttpd.so.12"

struct mhd mhd;

/* NULL with an error where the library is too old. */
static void *find(void *library, const char *name, struct myr_err *err)
{
    void *call = dlsym(library, name);
    if (!call) {
        myr_err_set(err, MYR_ENOENT, "%s has no %s", LIBRARY, name);
    }
    return call;
}

/* Once for the process; a second call finds it there. */
int mhd_load(struct myr_err *err)
{
    if (mhd.start_daemon) {
        return MYR_OK;
    }
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        int rc = myr_err_set(err, MYR_ENOENT, "http: %.200s", dlerror());
        myr_err_hint(err, "apt install libmicrohttpd12");
        return rc;
    }
    /* Filled apart, so that a failure leaves 'mhd' empty and the next try begins anew. */
    struct mhd found;
#define MHD_CALL(name)                                      \
    if (!(found.name = find(library, "MHD_" #name, err))) { \
        return MYR_ENOENT;                                  \
    }
    MHD_CALLS(MHD_CALL)
#undef MHD_CALL
    mhd = found;
    return MYR_OK;
}
