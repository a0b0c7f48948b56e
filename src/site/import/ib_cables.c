#include "import/scan.h"

/*
 * ibdiagnet2.cables: what is plugged into each port, a stanza a port.
 *
 *     -------------------------------------------------------
 *     Port=1 Lid=0x00a4 GUID=0xf45214030046a0a1 Port Name=gpu01/U1/P1
 *     -------------------------------------------------------
 *     PN: MMA4Z00-NS
 *     Length: 3 m
 *     Type: 850 nm VCSEL
 *     RX1 Power: 0.851 mW, -0.701 dBm
 *
 * It tells nothing of neighbours: it is read beside a fabric, as error counters are. A module that
 * measures no light says -999.999 dBm, which is no reading.
 */

/* Below any light that a module can measure. */
static const double no_light_dbm = -99;

static struct myr_str rest_of(const struct scan *s)
{
    return (struct myr_str){s->at, (size_t)(s->end - s->at)};
}

/* "Port=1 Lid=0x00a4 GUID=0xf45214030046a0a1 Port Name=..." */
static int stanza_head(struct scan *s, struct myr_cabling_optic *ret, struct myr_err *err)
{
    *ret = (struct myr_cabling_optic){.medium = MYR_NONE, .line = s->line};
    struct myr_str port = scan_until(s, " \t");
    const char *guid = memmem(s->at, (size_t)(s->end - s->at), "GUID=0x", 7);
    uint64_t number;
    /* The LID between is of no use: it changes. */
    s->at = guid ? guid + 7 : s->end;
    if (!myr_str_to_u64(port, &number) || number == 0 || !guid ||
        !import_hex(scan_until(s, " \t"), &ret->guid) || ret->guid == 0) {
        int rc = import_error(err, scan_here(s), "a port and its GUID are expected");
        myr_err_hint(err, "Port=1 Lid=0x00a4 GUID=0xf45214030046a0a1 Port Name=gpu01/U1/P1");
        return rc;
    }
    ret->port = port;
    return MYR_OK;
}

/* What a module is made for tells the fibre; copper is copper. */
static uint32_t medium_of(struct myr_str type)
{
    static const struct {
        const char *word;
        uint32_t medium;
    } words[] = {{"Copper", MYR_MEDIUM_COPPER},  {"copper", MYR_MEDIUM_COPPER},
                 {"850 nm", MYR_MEDIUM_MULTI},   {"850nm", MYR_MEDIUM_MULTI},
                 {"1310 nm", MYR_MEDIUM_SINGLE}, {"1310nm", MYR_MEDIUM_SINGLE},
                 {"1550 nm", MYR_MEDIUM_SINGLE}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (memmem(type.data, type.len, words[i].word, strlen(words[i].word))) {
            return words[i].medium;
        }
    }
    return MYR_NONE;
}

/* "0.851 mW, -0.701 dBm" */
static bool light_of(struct myr_str text, double *ret)
{
    const char *comma = memchr(text.data, ',', text.len);
    struct scan s = {.at = comma ? comma + 1 : text.data, .end = text.data + text.len};
    scan_blanks(&s);
    struct myr_str number = scan_until(&s, " \t");
    /* Nothing that a module can send is above 100 dBm either: such a text is no reading. */
    return scan_take(&s, "dBm") && myr_str_to_double(number, ret) && *ret > no_light_dbm &&
           *ret < 100;
}

/* "RX3 Power: ..." or "TX3 Power: ..." */
static void read_light(struct myr_cabling_optic *optic, struct myr_str key, struct myr_str value)
{
    struct myr_light *light = key.data[0] == 'R' ? &optic->rx : &optic->tx;
    double dbm;
    if (!light_of(value, &dbm)) {
        return;
    }
    /* The least and the next are kept apart: one lane far below the others is a dirty end. */
    if (light->lanes == 0 || dbm < light->least) {
        light->next = light->lanes ? light->least : dbm;
        light->least = dbm;
    } else if (light->lanes == 1 || dbm < light->next) {
        light->next = dbm;
    }
    light->most = light->lanes == 0 || dbm > light->most ? dbm : light->most;
    light->lanes++;
}

/* Facts that nobody asks for are left alone. */
static void read_fact(struct scan *s, struct myr_cabling_optic *optic)
{
    struct myr_str key = scan_until(s, ":");
    (void)scan_take(s, ":");
    scan_blanks(s);
    struct myr_str value = rest_of(s);
    /* "RX1 Power" to "TX16 Power"; other keys may end in "Power" too. */
    bool power = key.len > 8 && memcmp(key.data + key.len - 6, " Power", 6) == 0 &&
                 (key.data[0] == 'R' || key.data[0] == 'T') && key.data[1] == 'X';
    if (power) {
        read_light(optic, key, value);
    } else if (myr_str_eq(key, MYR_STR("Type"))) {
        optic->medium = medium_of(value);
    }
}

/* Facts belong to the port above them; what stands before the first one is a remark. */
int import_ib_cables(struct myr_import *import, const char *file, struct myr_str text,
                     struct myr_err *err)
{
    struct scan s = scan_of(import, file, text);
    struct myr_cabling *cabling = import->cabling;
    struct myr_cabling_optic *optic = NULL; /* of the stanza at hand */
    while (scan_line(&s)) {
        if (scan_take(&s, "Port=")) {
            struct myr_cabling_optic head;
            MYR_TRY(stanza_head(&s, &head, err));
            MYR_TRY(import_check_room(import, scan_here(&s), err));
            myr_vec_push(&cabling->optics, head);
            /* Good until the next stanza: the list may move when it grows. */
            optic = &cabling->optics.items[cabling->optics.count - 1];
        } else if (optic && s.at < s.end && *s.at != '-') {
            read_fact(&s, optic);
        }
    }
    return MYR_OK;
}
