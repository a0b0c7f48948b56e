/*
 * kept: whole texts held against files that are kept in the tree (tests/kept). Include it after
 * cmocka.
 *
 * For what people and other programs read from the first to the last byte: pictures, manuals,
 * scripts. A change on purpose is written anew with MYRIAD_KEPT=write in the environment, and
 * looked at as a diff before it is committed.
 */
#pragma once

#include <stdlib.h>

#include "myriad/base.h"
#include "rounds.h"

/* 'begins': the text has so many rounds as are drawn (rounds.h), the file all of them. */
static inline void assert_kept_as(const char *name, const struct myr_buf *text, bool begins)
{
    struct myr_buf path = {}, kept = {};
    struct myr_err err = {};
    const char *wish = getenv("MYRIAD_KEPT");
    myr_buf_printf(&path, "%s/tests/kept/%s", MYR_SOURCE_DIR, name);
    if (wish && strcmp(wish, "write") == 0) {
        assert_int_equal(myr_file_write(path.data, text, &err), MYR_OK);
    }
    assert_int_equal(myr_file_read(path.data, 16U << 20, &kept, &err), MYR_OK);
    size_t line = 1, at = 0;
    while (at < kept.len && at < text->len && kept.data[at] == text->data[at]) {
        line += kept.data[at++] == '\n';
    }
    if (at < text->len || (at < kept.len && !begins)) {
        fail_msg("%s:%zu: changed at byte %zu; there now: '%.60s'", name, line, at,
                 at < text->len ? text->data + at : "(the end)");
    }
    myr_buf_done(&path);
    myr_buf_done(&kept);
}

static inline void assert_kept(const char *name, const struct myr_buf *text)
{
    assert_kept_as(name, text, false);
}

static inline void assert_kept_rounds(const char *name, const struct myr_buf *text)
{
    assert_kept_as(name, text, TEST_ROUNDS(8) < 8);
}
