/*
 * tls: what a side shows, and whom it believes.
 *
 * TLS 1.3 alone where both sides are ours; a server of somebody else's ('host') may speak TLS 1.2,
 * and its certificate must be for that name or address. A server asks each peer for a certificate
 * of its own authority; one that shows none may still come in where 'strangers' says so (it has
 * come to enrol), and one that shows a wrong one never.
 */
#pragma once

#include <stdbool.h>

#include "myriad/base.h"

struct myr_io_tls; /* shared by any number of streams */

struct myr_io_tls_names {
    const char *certificate, *key; /* PEM files; NULL: none is shown */
    const char *ca;                /* PEM file; NULL: whoever has 'fingerprint' is believed */
    /* SHA-256 of the authority's certificate in hex, where there is no file of it yet. */
    const char *fingerprint;
    bool server;
    bool strangers; /* server: peers without a certificate come in too */
    /* Certificate, key and authority as text, in place of files. */
    const char *certificate_pem, *key_pem, *ca_pem;
    /* Client, of a server that is not ours: without 'ca', whom this machine believes. */
    const char *host;
};

MYR_MUST_USE int myr_io_tls_create(const struct myr_io_tls_names *names, struct myr_io_tls **ret,
                                   struct myr_err *err);
void myr_io_tls_free(struct myr_io_tls *tls);
