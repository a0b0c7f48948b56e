/*
 * fuzz: what every fuzzer shares. A broken expectation stops the program (MYR_ASSERT), which both
 * libFuzzer and the replay take as a finding.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "myriad/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * What a reader said of an input. The replay listens, and holds it against tests/kept/fuzz: a
 * message that changes, a line number that is off by one or a field that is lost is noticed.
 * With libFuzzer nobody listens.
 */
__attribute__((weak)) struct myr_buf *fuzz_heard;

#define fuzz_note(...)                               \
    do {                                             \
        if (fuzz_heard) {                            \
            myr_buf_printf(fuzz_heard, __VA_ARGS__); \
            myr_buf_puts(fuzz_heard, "; ");          \
        }                                            \
    } while (0)

static inline void fuzz_note_error(const struct myr_err *err)
{
    fuzz_note("%s%s%s", err->message, err->hint[0] ? " | " : "", err->hint);
}

/* Of what is too long to be kept: the same length and checksum is the same text. */
static inline void fuzz_note_text(const char *what, const struct myr_buf *text)
{
    fuzz_note("%s %zu %016llx", what, text->len,
              (unsigned long long)myr_hash_bytes(text->data, text->len));
}

/* What every error owes its reader: one printable line that begins with the file's name. */
static inline void fuzz_check_error(const struct myr_err *err, int code, const char *file)
{
    fuzz_note_error(err);
    MYR_ASSERT(code < 0 && err->code == code);
    MYR_ASSERT(strncmp(err->message, file, strlen(file)) == 0);
    MYR_ASSERT(strlen(err->message) > strlen(file) + 2);
    for (const char *c = err->message; *c; c++) {
        MYR_ASSERT((unsigned char)*c >= 0x20 && *c != 0x7F);
    }
}
