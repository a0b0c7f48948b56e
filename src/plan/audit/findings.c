#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "audit/audit.h"

/*
 * What an audit says: findings with what was expected and found, as numbers or as words, and
 * doubts, which are no faults but tell what was not judged.
 */

MYR_PRINTF(2, 0)
static const char *text_of(struct audit *audit, const char *fmt, va_list args)
{
    char message[1024];
    vsnprintf(message, sizeof(message), fmt, args);
    return myr_arena_strndup(audit->arena, message, strlen(message));
}

/*
 * Once for the same rule and message in one place. Of a link the place does not count: the lines of
 * both its ends lead to the same fault. What two lines have wrong by themselves are two faults,
 * though they are told in the same words.
 */
static bool is_told(const struct myr_audit_finding *old, const struct myr_audit_finding *finding)
{
    bool link = strncmp(finding->rule, "optic-", strlen("optic-")) == 0;
    return strcmp(old->rule, finding->rule) == 0 && strcmp(old->message, finding->message) == 0 &&
           (link || strcmp(old->where, finding->where) == 0);
}

static void put(struct audit *audit, struct myr_audit_finding finding)
{
    for (size_t i = 0; i < audit->out->findings.count; i++) {
        if (is_told(&audit->out->findings.items[i], &finding)) {
            return;
        }
    }
    myr_vec_push(&audit->out->findings, finding);
}

/* Texts are copied into the arena; 'rule' and 'where' must live as long. */
void audit_finding(struct audit *audit, const char *rule, const char *where, double expected,
                   double found, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put(audit, (struct myr_audit_finding){.rule = rule,
                                          .where = where,
                                          .message = text_of(audit, fmt, args),
                                          .expected = expected,
                                          .found = found});
    va_end(args);
}

/* For rules about words: the numbers are none. */
void audit_finding_text(struct audit *audit, const char *rule, const char *where,
                        const char *expected, const char *found, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put(audit, (struct myr_audit_finding){.rule = rule,
                                          .where = where,
                                          .message = text_of(audit, fmt, args),
                                          .expected = NAN,
                                          .found = NAN,
                                          .expected_text = expected,
                                          .found_text = found});
    va_end(args);
}

/* What could not be judged; no fault of the document. */
void audit_doubt(struct audit *audit, const char *where, const char *reason)
{
    myr_vec_push(&audit->out->doubts, (struct myr_audit_doubt){.where = where, .reason = reason});
}
