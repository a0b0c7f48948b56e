#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "late.h"

/* The loader's own exit status for a library that is not there. */
enum { NOT_LOADED = 127 };

void *late_find(const char *library, const char *name)
{
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    void *found = loaded ? dlsym(loaded, name) : NULL;
    if (!found) {
        dprintf(STDERR_FILENO, "myriad: %s\n", dlerror());
        _exit(NOT_LOADED);
    }
    return found;
}
