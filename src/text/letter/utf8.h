/*
 * utf8: the few questions about UTF-8 that the readers and writers of text/ share. Private.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define UTF8_BAD UINT32_MAX /* no character */

/*
 * The character at text.data[*at], and moves *at behind it. UTF8_BAD, and one byte further, where
 * the bytes are not UTF-8 (also overlong forms, surrogates, beyond U+10FFFF). *at < text.len.
 */
uint32_t utf8_next(struct myr_str text, size_t *at);

/* The offset of the first byte that is not UTF-8, or text.len. */
size_t utf8_first_bad(struct myr_str text);

/* Text without a byte order mark in front. */
struct myr_str utf8_skip_mark(struct myr_str text);

/* At most four bytes; returns how many. 'ret' is not NUL-terminated. */
size_t utf8_encode(uint32_t code, char ret[4]);

/*
 * True for what has no place in one line for people: controls, line and paragraph separators,
 * marks that change the writing direction (they can make a message read as something else), byte
 * order marks and UTF8_BAD.
 */
bool utf8_is_hidden(uint32_t code);
