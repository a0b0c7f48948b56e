/* What the tests of kube share: an object as the watch tells it. Include it after cmocka. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "kube.h"

/* Single quotes stand for double ones. */
MYR_PRINTF(4, 5)
static inline void tell(struct myr_kube_cluster *c, enum myr_kube_kind kind, int64_t now_ms,
                        const char *fmt, ...)
{
    char text[4096];
    struct myr_kube_said said;
    struct myr_err err = {0};
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < sizeof(text));
    for (char *at = text; *at; at++) {
        *at = (char)(*at == '\'' ? '"' : *at);
    }
    if (myr_kube_line(c, kind, myr_str_from(text), now_ms, &said, &err) != MYR_OK) {
        fail_msg("%s: %s", err.message, text);
    }
}
