/*
 * utf8: strict, so that one text has one reading: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF.
 */
#include "letter/utf8.h"
#include "myriad/text/doc.h"

/* 0 for a byte that begins nothing; C0, C1 and F5 up could only begin overlong or too large forms.
 */
static uint32_t sequence_len(unsigned char lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 3;
    }
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

uint32_t utf8_next(struct myr_str text, size_t *at)
{
    /* The smallest character of each length: below it the form is overlong. */
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    MYR_ASSERT(*at < text.len);
    const unsigned char *bytes = (const unsigned char *)text.data + *at;
    uint32_t len = sequence_len(bytes[0]);
    if (len == 1) {
        *at += 1;
        return bytes[0];
    }
    /* A form that the text is too short for is damage like any other. */
    if (len == 0 || len > text.len - *at) {
        *at += 1;
        return UTF8_BAD;
    }
    /* One byte is skipped on damage, not the whole form: the next byte may begin a good one. */
    uint32_t code = bytes[0] & (0xFFU >> (len + 1));
    for (uint32_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            *at += 1;
            return UTF8_BAD;
        }
        code = code << 6 | (bytes[i] & 0x3F);
    }
    if (code < least[len] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        *at += 1;
        return UTF8_BAD;
    }
    *at += len;
    return code;
}

size_t utf8_first_bad(struct myr_str text)
{
    size_t at = 0;
    while (at < text.len) {
        /* Most text is ASCII: eight bytes at once while none has its high bit. */
        uint64_t eight;
        while (text.len - at >= sizeof(eight)) {
            memcpy(&eight, text.data + at, sizeof(eight));
            if (eight & 0x8080808080808080ULL) {
                break;
            }
            at += sizeof(eight);
        }
        if (at == text.len) {
            break;
        }
        size_t start = at;
        if (utf8_next(text, &at) == UTF8_BAD) {
            return start;
        }
    }
    return text.len;
}

struct myr_str utf8_skip_mark(struct myr_str text)
{
    if (text.len >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0) {
        return (struct myr_str){text.data + 3, text.len - 3};
    }
    return text;
}

/* From the last byte to the first: each takes six bits. */
size_t utf8_encode(uint32_t code, char ret[4])
{
    MYR_ASSERT(code <= 0x10FFFF);
    if (code < 0x80) {
        ret[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        ret[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    /* The lead byte has as many high ones as the sequence has bytes. */
    ret[0] = (char)((0xF00U >> len & 0xFF) | code);
    return len;
}

/* UTF8_BAD is beyond U+10FFFF, and so hidden too. */
bool utf8_is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xFEFF || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF;
}

/* Bytes that go on with a character begin with the bits 10. */
uint32_t myr_text_column(const char *line, const char *at)
{
    size_t len = (size_t)(at - line), column = 1, i = 0;
    uint64_t eight;
    /* Readers note places of every line: eight bytes at once while all are ASCII. */
    for (; len - i >= sizeof(eight); i += sizeof(eight)) {
        memcpy(&eight, line + i, sizeof(eight));
        if (eight & 0x8080808080808080ULL) {
            break;
        }
    }
    for (column += i; i < len; i++) {
        column += ((unsigned char)line[i] & 0xC0) != 0x80;
    }
    return (uint32_t)column;
}
