/*
 * kind: what a file looks like, for readers that were given another kind of file.
 *
 * A reader of ibnetdiscover's text that meets a CSV list can only say that its first line makes no
 * sense; whoever mixed up two names wants to hear "looks like a CSV list with the header 'a,b,c';
 * ibnetdiscover output is expected". Every file that a user names is read by myr_kind_read() or
 * myr_kind_open(), with the kinds that its reader takes. They look at the beginning of the text
 * only, refuse what is certainly something else, and leave what they do not know to the reader,
 * whose own complaint is then the better one.
 *
 * What looks like a secret, or is called like one, is refused before any reader could quote it.
 */
#pragma once

#include "myriad/base.h"

enum myr_kind {
    MYR_KIND_TEXT, /* nothing that is known */
    MYR_KIND_EMPTY,
    MYR_KIND_BINARY,
    MYR_KIND_GZIP,
    MYR_KIND_ZIP, /* spreadsheets are one too */
    MYR_KIND_UTF16,
    MYR_KIND_DESIGN, /* design.myr */
    MYR_KIND_SVG,
    MYR_KIND_HTML,
    MYR_KIND_XML,
    MYR_KIND_IBNETDISCOVER,
    MYR_KIND_IBQUERYERRORS,
    MYR_KIND_FORWARDING, /* tables of a subnet manager */
    MYR_KIND_JSON,
    MYR_KIND_LLDP,
    MYR_KIND_LLDP_TEXT, /* lldpcli without -f json */
    MYR_KIND_DESIGN_JSON,
    MYR_KIND_CSV,
    MYR_KIND_P2P,
    MYR_KIND_NETBOX,
    MYR_KIND_SEPARATED, /* a list of ours, but with ';' or tabs for commas */
    MYR_KIND_YAML,
    MYR_KIND_SPEC,
    MYR_KIND_CATALOG,
    MYR_KIND_BINDING,
    MYR_KIND_IB_LINES, /* ibnetdiscover -p */
    MYR_KIND_IBLINKINFO,
    MYR_KIND_IBDIAGNET,
    MYR_KIND_LINKS_JSON, /* links of UFM or NetQ */
    MYR_KIND_SONIC_LLDP,
    MYR_KIND_PTM,
    /* Documents that belong to a verb. */
    MYR_KIND_LAYOUT,
    MYR_KIND_MODEL, /* ours, or a config.json */
    MYR_KIND_JOB,
    MYR_KIND_SCENARIO,
    MYR_KIND_CASE,   /* of the twin */
    MYR_KIND_CONFIG, /* of a server */
    MYR_KIND_TENANTS,
    MYR_KIND_SWEEP,
    MYR_KIND_PROFILE,
    MYR_KIND_RECOVERY,
    MYR_KIND_CONTENTION,
    MYR_KIND_ROOM,
    MYR_KIND_KUBECONFIG,
    MYR_KIND_ANSWER,  /* what a verb printed with -o json or yaml */
    MYR_KIND_STATE,   /* of the controller */
    MYR_KIND_SAVED,   /* a run of sim */
    MYR_KIND_SECRET,  /* a token, a key, a certificate: nothing of it is ever shown */
    MYR_KIND_PRINTED, /* what other commands print, and texts of other programs */
    MYR_KIND_OTHER,   /* something that no reader takes, and that has a name */
    MYR_KIND_COUNT,
};

/* Kinds as a sum of bits. */
#define MYR_KIND_BIT(name) (UINT64_C(1) << MYR_KIND_##name)
/* A document of one kind, and those that could be anything: its reader knows what is wrong. */
#define MYR_KINDS_DOC(name) (MYR_KIND_BIT(YAML) | MYR_KIND_BIT(JSON) | MYR_KIND_BIT(name))
/* Any document, whatever it is about. */
#define MYR_KINDS_DOCS                                                                            \
    (MYR_KINDS_DOC(SPEC) | MYR_KIND_BIT(LLDP) | MYR_KIND_BIT(DESIGN_JSON) |                       \
     MYR_KIND_BIT(CATALOG) | MYR_KIND_BIT(BINDING) | MYR_KIND_BIT(LAYOUT) | MYR_KIND_BIT(MODEL) | \
     MYR_KIND_BIT(JOB) | MYR_KIND_BIT(SCENARIO) | MYR_KIND_BIT(CASE) | MYR_KIND_BIT(CONFIG) |     \
     MYR_KIND_BIT(TENANTS) | MYR_KIND_BIT(SWEEP) | MYR_KIND_BIT(PROFILE) |                        \
     MYR_KIND_BIT(RECOVERY) | MYR_KIND_BIT(CONTENTION) | MYR_KIND_BIT(ROOM) |                     \
     MYR_KIND_BIT(KUBECONFIG) | MYR_KIND_BIT(ANSWER))
#define MYR_KINDS_CSV (MYR_KIND_BIT(CSV) | MYR_KIND_BIT(P2P) | MYR_KIND_BIT(NETBOX))

#define MYR_KIND_WORDS_MAX 256

enum myr_kind myr_kind_of(struct myr_str text);
/* "a CSV list with the header 'a,b,c'"; returns 'ret'. */
const char *myr_kind_words(struct myr_str text, char ret[MYR_KIND_WORDS_MAX]);
/*
 * "file:1:1: looks like ...; 'expected' is expected" when the text is surely none of the kinds in
 * 'wanted', a sum of MYR_KIND_BIT(). 'expected' is a noun: "a spec", "ibnetdiscover output".
 */
MYR_MUST_USE int myr_kind_check(const char *file, struct myr_str text, uint64_t wanted,
                                const char *expected, struct myr_err *err);

/*
 * Reads a whole file of one of the kinds; "-" is standard input. What is surely none of them is
 * refused by its beginning, so that a device without end, or a disk image, is not read up to the
 * limit first.
 */
MYR_MUST_USE int myr_kind_read(const char *path, size_t limit, uint64_t wanted,
                               const char *expected, struct myr_buf *ret, struct myr_err *err);

struct myr_infile;
/* The same for a file that is read piece by piece: its beginning is in 'ret_first' then. */
MYR_MUST_USE int myr_kind_open(struct myr_infile *ret, const char *path, uint64_t wanted,
                               const char *expected, struct myr_buf *ret_first,
                               struct myr_err *err);
