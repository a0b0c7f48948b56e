/*
 * Libraries that most questions never call, loaded by the first call (MYRIAD_LATE): to start costs
 * a quarter less without them. Functions of their names are part of the program alone, not of the
 * modules; one that is missing there is found in the library itself, which is then loaded at every
 * start again.
 */
#pragma once

/* A function of a library, which is loaded if it has to be; without it the program ends. */
void *late_find(const char *library, const char *name);

#define LATE(library, type, name, takes, gives)                             \
    type name takes                                                         \
    {                                                                       \
        static __typeof__(&name) found;                                     \
        __typeof__(&name) call = __atomic_load_n(&found, __ATOMIC_RELAXED); \
        if (!call) {                                                        \
            call = late_find(library, #name);                               \
            __atomic_store_n(&found, call, __ATOMIC_RELAXED);               \
        }                                                                   \
        return call gives;                                                  \
    }
