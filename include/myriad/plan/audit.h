/*
 * audit: somebody else's bill of materials, claims and rack layout against the rules.
 *
 * The spec says what is wanted. From it a cluster is planned, and from its ports and cages it is
 * counted what a list must hold; the document's own parts are then put to those uses as well as
 * they can be, and what remains open is named. What the spec pins for its own bill (modules,
 * cables, quantities) does not count here: the document is judged, not the spec.
 *
 * A finding has the name of its rule (docs/audit.md lists them), where it is, what was expected and
 * what was found. What could not be judged is said too.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"
#include "myriad/plan.h"
#include "myriad/text.h"

#define MYR_AUDIT_LINES_MAX 2000

struct myr_audit_finding {
    const char *rule, *where, *message;
    double expected, found;
    const char *expected_text, *found_text; /* where they are words: the numbers are NaN then */
};

/* A line of the document that no rule could be applied to. */
struct myr_audit_doubt {
    const char *where, *reason;
};

struct myr_audit {
    MYR_VEC(struct myr_audit_finding) findings;
    MYR_VEC(struct myr_audit_doubt) doubts;
    uint32_t lines, claims, racks; /* that were read */
};

/* NULL: not given. 'text' is the whole file, 'file' its name for messages. */
struct myr_audit_document {
    struct myr_str bom, layout;
    const char *bom_file, *layout_file;
    const struct myr_doc *claims;
    const struct myr_plan_listener *listener; /* of the steps of its plans; or NULL */
};

/* Texts of the result live in the arena; the vectors are freed by myr_audit_done(). */
MYR_MUST_USE int myr_audit_run(struct myr_arena *arena, const struct myr_catalog *catalog,
                               const struct myr_spec *spec,
                               const struct myr_audit_document *document, struct myr_audit *ret,
                               struct myr_err *err);
void myr_audit_done(struct myr_audit *audit);
