/* width: how many columns of a terminal a text takes. */
#include "letter/utf8.h"
#include "myriad/text/table.h"

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t code, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/*
 * After Unicode's East Asian Width (wide and fullwidth) and the marks that take no room. Our own,
 * because wcwidth() follows the locale, and a table must not.
 */
static uint32_t character_width(uint32_t code)
{
    static const struct range wide[] = {
        {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
        {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
        {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
        {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
    };
    static const struct range none[] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
        {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    };
    /* Nothing below is wide or a combining mark: most text ends here. */
    if (code < 0x300) {
        return 1;
    }
    if (in_ranges(code, none, MYR_ARRAY_COUNT(none))) {
        return 0;
    }
    return in_ranges(code, wide, MYR_ARRAY_COUNT(wide)) ? 2 : 1;
}

uint32_t myr_text_width(struct myr_str text)
{
    uint32_t width = 0;
    for (size_t at = 0; at < text.len;) {
        width += character_width(utf8_next(text, &at));
    }
    return width;
}
