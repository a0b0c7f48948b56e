/*
 * link_words: what sources say of a link in words: what it is made of, its correction, its speed.
 *
 * A word that is not understood is neither right nor wrong. It is kept, so that the answer can say
 * what was not judged; a source that says nothing ("", "?", "n/a") has no such word.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

/* What a word is about. */
enum myr_link_fact {
    MYR_LINK_SPEED,
    MYR_LINK_FEC,
    MYR_LINK_STATUS, /* of a cable, in NetBox */
    MYR_LINK_KEPT,   /* the facts above are kept by their words' numbers */
    MYR_LINK_MEDIUM = MYR_LINK_KEPT,
    MYR_LINK_FACTS,
};

extern const char *const myr_link_fact_names[MYR_LINK_FACTS];

struct myr_link_word {
    enum myr_link_fact fact;
    struct myr_str text;
};

/* "", "?", "-", "n/a", "unknown": the source says that it does not say. */
bool myr_link_says_nothing(struct myr_str word);

enum myr_link_medium {
    MYR_LINK_NO_MEDIUM,      /* nothing is said, or a word that may be any fibre: "aoc" */
    MYR_LINK_MEDIUM_KNOWN,   /* an enum myr_medium was given */
    MYR_LINK_MEDIUM_UNKNOWN, /* a word that is not understood */
};

/* What a cable is made of, as lists and NetBox name it: "smf-os2", "OM4", "Direct Attach". */
enum myr_link_medium myr_link_medium(struct myr_str word, uint32_t *ret);

enum myr_link_fec { MYR_LINK_FEC_UNTOLD, MYR_LINK_FEC_ON, MYR_LINK_FEC_OFF, MYR_LINK_FEC_UNKNOWN };

/* "RS", "KP4", "FC-FEC"; "none", "No FEC", "fec off". */
enum myr_link_fec myr_link_fec(struct myr_str word);
