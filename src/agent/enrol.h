/*
 * enrol: a certificate for this node: once by a token, later by the one it has.
 */
#pragma once

#include "myriad/io.h"
#include "myriad/wire.h"

struct enrol_token {
    char secret[256];
    char fingerprint[65];
};

/* "secret@fingerprint" */
MYR_MUST_USE int enrol_token_read(struct myr_str text, struct enrol_token *ret,
                                  struct myr_err *err);
/* Whether this folder has a certificate. */
bool enrol_is_done(const char *state);
/* A new key waits in the folder under another name until its certificate has come. */
MYR_MUST_USE int enrol_ask(const char *state, const char *name, struct myr_buf *ret_csr,
                           struct myr_err *err);
/* Key, certificate and authority take their names. */
MYR_MUST_USE int enrol_take(const char *state, const struct myr_wire_cert *cert,
                            struct myr_err *err);
/* Connects as a stranger, asks, and waits for the answer: minutes at most. */
MYR_MUST_USE int enrol_run(const char *host, uint16_t port, const char *state, const char *name,
                           const struct enrol_token *token, struct myr_err *err);
/* What the session shows and believes. */
MYR_MUST_USE int enrol_tls(const char *state, struct myr_io_tls **ret, struct myr_err *err);
/* The same of a relay, to agents; those without a certificate come in to enrol. */
MYR_MUST_USE int enrol_tls_server(const char *state, struct myr_io_tls **ret, struct myr_err *err);
/* Less than a third of its life is left. */
bool enrol_is_due(const char *state);
