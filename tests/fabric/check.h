/* What the tests of a folder print when something does not hold: the case and its seed. */
#pragma once

#define SHOULD(cond, ...)             \
    do {                              \
        if (!(cond)) {                \
            print_error(__VA_ARGS__); \
            fail_msg("%s", #cond);    \
        }                             \
    } while (0)
