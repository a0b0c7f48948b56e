/*
 * built: a design beside what was found of it, in one question.
 *
 * Opens the design, reads the binding and the files that say what was built, and compares them.
 * 'verify' asks what is wrong, 'bind' which real device stands where. Everything lives in the
 * struct until close, which accepts a half-opened one.
 */
#pragma once

#include "myriad/model/catalog.h"
#include "myriad/site/import.h"
#include "myriad/site/verify.h"

struct myr_built_question {
    const char *design;
    const char *const *files;
    uint32_t file_count;
    enum myr_import_format from;
    uint32_t net;              /* MYR_NET_COUNT: all of them */
    const char *binding;       /* a file, or NULL */
    const char *const *speeds; /* rules of the speed map */
    uint32_t speed_count;
    const char *const *hca_map; /* "mlx5_3=nic1", or a file with the columns port and hca-name */
    uint32_t hca_count;
    const char *port_names;          /* the user's own rules of port names: a file, or NULL */
    bool partial;                    /* the files tell about some cables only */
    struct myr_verify_options judge; /* networks and binding are filled in */
};

struct myr_built {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_binding binding;
    struct myr_catalog catalog;
    struct myr_port_names port_names;
    MYR_VEC(struct myr_hca_name) hcas;
    struct myr_verify verify;
    uint32_t truncated; /* texts that end early: what they do not list is unseen */
    uint32_t table_count;
    const char **tables; /* files of NetBox without cables, which lay beside others: passed over */
};

MYR_MUST_USE int myr_built_open(struct myr_built *built, const struct myr_built_question *question,
                                struct myr_err *err);
void myr_built_close(struct myr_built *built);

/* What of the files was not read: as members of an answer, and as sentences on its page. */
void myr_built_put(const struct myr_built *built, struct myr_answer *answer);
void myr_built_say(const struct myr_built *built, struct myr_answer *answer);
/* The same sentences as remarks for the head of a text. */
void myr_built_remarks(const struct myr_built *built, struct myr_buf *buf);
