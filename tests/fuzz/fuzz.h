/*
 * fuzz: what every fuzzer shares. A broken expectation stops the program (MYR_ASSERT), which both
 * libFuzzer and the replay take as a finding.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "myriad/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What every error owes its reader: one printable line that begins with the file's name. */
static inline void fuzz_check_error(const struct myr_err *err, int code, const char *file)
{
    MYR_ASSERT(code < 0 && err->code == code);
    MYR_ASSERT(strncmp(err->message, file, strlen(file)) == 0);
    MYR_ASSERT(strlen(err->message) > strlen(file) + 2);
    for (const char *c = err->message; *c; c++) {
        MYR_ASSERT((unsigned char)*c >= 0x20 && *c != 0x7F);
    }
}
