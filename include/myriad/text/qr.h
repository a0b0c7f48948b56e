/*
 * qr: a short text as a code to scan (ISO/IEC 18004), drawn as SVG.
 *
 * Bytes mode, error correction of level M: a sixth of the code may be dirty. Versions 1 to 15, up
 * to 412 bytes. The text should be ASCII: scanners do not agree on anything else. The same text
 * always gives the same code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define MYR_QR_VERSION_MAX 15
#define MYR_QR_SIDE_MAX    (17 + 4 * MYR_QR_VERSION_MAX)
#define MYR_QR_BYTES_MAX   412

struct myr_qr {
    uint32_t side;                                   /* modules */
    uint8_t dark[MYR_QR_SIDE_MAX * MYR_QR_SIDE_MAX]; /* row by row, 'side' a row; 1: dark */
};

/* False when the text does not fit. */
MYR_MUST_USE bool myr_qr_make(struct myr_qr *ret, struct myr_str text);
/* An SVG element of that size, with the quiet zone around it that scanners need. */
void myr_qr_svg(struct myr_buf *buf, const struct myr_qr *qr, uint32_t side_mm);
