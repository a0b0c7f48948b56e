#include "import/readers.h"

/* What readers of several formats meet: speeds of links, GUIDs, names, and how much is too much. */

/* What one lane carries, as the fabric's speed is counted: 4x. */
static const struct {
    const char *name;
    uint32_t lane_mbps;
} ib_speeds[MYR_IB_SPEED_COUNT] = {
    {"SDR", 2500},  {"DDR", 5000},  {"QDR", 10000},  {"FDR10", 10000}, {"FDR", 14000},
    {"EDR", 25000}, {"HDR", 50000}, {"NDR", 100000}, {"XDR", 200000},
};

void myr_speed_map_init(struct myr_speed_map *map)
{
    for (uint32_t i = 0; i < MYR_IB_SPEED_COUNT; i++) {
        map->lane_mbps[i] = ib_speeds[i].lane_mbps;
    }
}

static uint32_t speed_index(struct myr_str name)
{
    for (uint32_t i = 0; i < MYR_IB_SPEED_COUNT; i++) {
        if (myr_str_eq_nocase(name, myr_str_from(ib_speeds[i].name))) {
            return i;
        }
    }
    return MYR_IB_SPEED_COUNT;
}

/* For sources that have no word for the real speed. */
int myr_speed_map_set(struct myr_speed_map *map, struct myr_str rule, struct myr_err *err)
{
    enum { GBPS_MAX = 100000 };
    char excerpt[MYR_EXCERPT_MAX];
    const char *equals = memchr(rule.data, '=', rule.len);
    size_t len = equals ? (size_t)(equals - rule.data) : rule.len;
    uint32_t index = speed_index((struct myr_str){rule.data, len});
    uint64_t gbps = 0;
    /* Both a name that is known and a number are needed. */
    bool number = equals && myr_str_to_u64((struct myr_str){equals + 1, rule.len - len - 1}, &gbps);
    if (index == MYR_IB_SPEED_COUNT || !number || gbps == 0 || gbps > GBPS_MAX) {
        int rc = myr_err_set(err, MYR_EINVAL, "speed map '%s': SPEED=GBPS is expected",
                             myr_text_excerpt(rule, excerpt));
        myr_err_hint(err, "HDR=400: a link of four HDR lanes stands for 400 Gb/s; speeds are SDR, "
                          "DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR");
        return rc;
    }
    /* The rule is of four lanes. */
    map->lane_mbps[index] = (uint32_t)gbps * 1000 / 4;
    return MYR_OK;
}

bool import_speed(const struct myr_speed_map *map, struct myr_str word, uint32_t *ret_gbps,
                  uint32_t *ret_width, struct myr_str *ret_unread)
{
    /* "4xNDR"; an unknown name has a width all the same. */
    const char *cross = memchr(word.data, 'x', word.len);
    uint64_t width;
    if (!cross ||
        !myr_str_to_u64((struct myr_str){word.data, (size_t)(cross - word.data)}, &width) ||
        width == 0 || width > 16) {
        return false;
    }
    struct myr_str name = {cross + 1, word.len - (size_t)(cross - word.data) - 1};
    uint32_t index = speed_index(name);
    *ret_width = (uint32_t)width;
    if (index == MYR_IB_SPEED_COUNT && !myr_link_says_nothing(name)) {
        *ret_unread = name;
    }
    *ret_gbps = index == MYR_IB_SPEED_COUNT
                    ? 0
                    : (uint32_t)((uint64_t)map->lane_mbps[index] * width / 1000);
    return true;
}

/* Rates without a name: of two speeds of one rate the first. */
uint32_t import_lane_mbps(const struct myr_speed_map *map, uint32_t mbps)
{
    for (uint32_t i = 0; i < MYR_IB_SPEED_COUNT; i++) {
        if (ib_speeds[i].lane_mbps == mbps) {
            return map->lane_mbps[i];
        }
    }
    return mbps;
}

/* Mb/s of one such unit; 0: there is no such unit. "GB/s" would be bytes, so capitals count. */
static double unit_mbps(struct myr_str unit)
{
    static const struct {
        char letter[2]; /* as a capital and not */
        double mbps;
    } scales[] = {{{'M', 'm'}, 1}, {{'G', 'g'}, 1e3}, {{'T', 't'}, 1e6}};
    static const char *const rests[] = {"", "b", "b/s", "bps", "bit", "bit/s", "bE", "be", "E"};
    if (unit.len == 0) {
        return 1e3;
    }
    struct myr_str rest = {unit.data + 1, unit.len - 1};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(scales); i++) {
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(rests); k++) {
            if (memchr(scales[i].letter, unit.data[0], sizeof(scales[i].letter)) &&
                myr_str_eq(rest, myr_str_from(rests[k]))) {
                return scales[i].mbps;
            }
        }
    }
    return 0;
}

bool import_gbps(const struct myr_speed_map *map, struct myr_str word, uint32_t *ret_gbps,
                 uint32_t *ret_width)
{
    enum { GBPS_MAX = 1000000 };
    size_t digits = 0;
    while (digits < word.len &&
           ((word.data[digits] >= '0' && word.data[digits] <= '9') || word.data[digits] == '.')) {
        digits++;
    }
    struct myr_str unit = {word.data + digits, word.len - digits}, unread = {};
    while (unit.len && unit.data[0] == ' ') {
        unit = (struct myr_str){unit.data + 1, unit.len - 1};
    }
    double value;
    double gbps = unit_mbps(unit) / 1e3;
    if (gbps > 0 && myr_str_to_double((struct myr_str){word.data, digits}, &value)) {
        gbps *= value;
        /* Ports have whole Gb/s; half of one is no speed that could be held against them. */
        bool whole = gbps >= 0 && gbps <= GBPS_MAX && gbps == (double)(uint32_t)gbps;
        *ret_gbps = whole ? (uint32_t)gbps : *ret_gbps;
        return whole;
    }
    uint32_t index = speed_index(word), told_gbps = 0, told_width = 0;
    if (index < MYR_IB_SPEED_COUNT) {
        *ret_gbps = map->lane_mbps[index] * 4 / 1000;
        return true;
    }
    if (!import_speed(map, word, &told_gbps, &told_width, &unread) || !told_gbps) {
        return false;
    }
    *ret_gbps = told_gbps;
    *ret_width = told_width;
    return true;
}

bool import_is_long_hex(struct myr_str text)
{
    bool prefixed = text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x';
    size_t at = prefixed ? 2 : 0, first = at;
    while (at < text.len && strchr("0123456789abcdefABCDEF", text.data[at]) && text.data[at]) {
        at++;
    }
    return at == text.len && at - first > 16;
}

/* Nothing is written where it is none. */
bool import_hex(struct myr_str digits, uint64_t *ret)
{
    uint64_t value = 0;
    if (digits.len == 0 || digits.len > 16) {
        return false;
    }
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.data[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        if (digit == 16) {
            return false;
        }
        value = value << 4 | digit;
    }
    *ret = value;
    return true;
}

/*
 * The end of a text as a whole word: its last eight bytes, some of which may be looked at twice, or
 * all of a shorter one behind 'filler'. Every name of a list is asked, and mostly fits into two
 * words: byte by byte that would be a tenth of the time that a list takes.
 */
static uint64_t last_word(struct myr_str name, uint64_t filler)
{
    uint64_t word = filler;
    size_t len = name.len < sizeof(word) ? name.len : sizeof(word);
    if (len == sizeof(word)) {
        memcpy(&word, name.data + name.len - len, sizeof(word));
        return word;
    }
    for (size_t i = 0; i < len; i++) {
        word = word << 8 | (unsigned char)name.data[i];
    }
    return word;
}

/* Marks in 'high' bits of bytes that are below 'least', which is at most 128. */
static uint64_t below(uint64_t word, uint64_t least)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    return (word - ones * least) & ~word & high;
}

/* Nothing below a blank, and no DEL. */
bool import_name_is_good(struct myr_str name)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), dels = ones * 0x7F;
    uint64_t word = last_word(name, ones * ' ');
    uint64_t bad = below(word, 0x20) | below(word ^ dels, 1);
    for (size_t i = 0; i + sizeof(word) < name.len; i += sizeof(word)) {
        memcpy(&word, name.data + i, sizeof(word));
        bad |= below(word, 0x20) | below(word ^ dels, 1);
    }
    return !bad && name.len <= MYR_IMPORT_NAME_MAX;
}

int import_check_room(const struct myr_import *import, struct import_place place,
                      struct myr_err *err)
{
    if (import->cabling->devices.count >= MYR_IMPORT_DEVICES_MAX ||
        import->cabling->links.count >= MYR_IMPORT_LINKS_MAX) {
        return import_error(err, place, "more than %u devices or %u links, the most allowed",
                            MYR_IMPORT_DEVICES_MAX, MYR_IMPORT_LINKS_MAX);
    }
    return MYR_OK;
}

/* Is there anything at or below a blank? Mostly not, and every name of a list is asked. */
static bool has_blank(struct myr_str name)
{
    const uint64_t letters = UINT64_C(0x0101010101010101) * 'a';
    uint64_t word, low = below(last_word(name, letters), ' ' + 1);
    for (size_t i = 0; i + sizeof(word) < name.len; i += sizeof(word)) {
        memcpy(&word, name.data + i, sizeof(word));
        low |= below(word, ' ' + 1);
    }
    return low;
}

/* A copy only where blanks within the name are too many. */
struct myr_str import_tidy(struct myr_import *import, struct myr_str name)
{
    bool messy = false;
    if (!has_blank(name)) {
        return name;
    }
    while (name.len && (name.data[0] == ' ' || name.data[0] == '\t')) {
        name = (struct myr_str){name.data + 1, name.len - 1};
    }
    while (name.len && (name.data[name.len - 1] == ' ' || name.data[name.len - 1] == '\t')) {
        name.len--;
    }
    /* Trimmed is mostly enough: only runs of blanks within need a copy. */
    for (size_t i = 1; i < name.len; i++) {
        messy = messy || (name.data[i] == ' ' && name.data[i - 1] == ' ');
    }
    if (!messy) {
        return name;
    }
    char *plain = myr_arena_strndup(import->cabling->arena, name.data, name.len);
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        /* The first is no blank: the name was trimmed. */
        if (name.data[i] != ' ' || name.data[i - 1] != ' ') {
            plain[len++] = name.data[i];
        }
    }
    return (struct myr_str){plain, len};
}

/* Names have dots only before a domain: endings are cut one by one. */
struct myr_str import_stem(const char *file)
{
    static const char *const endings[] = {".json", ".json0", ".txt", ".lldp", ".log"};
    const char *slash = strrchr(file, '/');
    struct myr_str name = myr_str_from(slash ? slash + 1 : file);
    /* "leaf-1.lldp.json" has two. */
    bool cut = true;
    while (cut) {
        cut = false;
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(endings); i++) {
            size_t len = strlen(endings[i]);
            if (name.len > len && memcmp(name.data + name.len - len, endings[i], len) == 0) {
                name.len -= len;
                cut = true;
            }
        }
    }
    /* Standard input is named after nobody. */
    return myr_str_eq(name, MYR_STR("-")) ? MYR_STR("") : name;
}
