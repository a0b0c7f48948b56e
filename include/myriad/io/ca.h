/*
 * ca: a small certificate authority of the cluster's own.
 *
 * Keys are EC P-256. Texts are PEM. What is written holds secrets: callers write it with mode 0600.
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"

/* A new authority. */
MYR_MUST_USE int myr_io_ca_create(const char *name, uint32_t days, struct myr_buf *ret_certificate,
                                  struct myr_buf *ret_key, struct myr_err *err);
/* A key, and a request for a certificate of that name. */
MYR_MUST_USE int myr_io_csr_create(const char *name, struct myr_buf *ret_key,
                                   struct myr_buf *ret_csr, struct myr_err *err);
/* The same with a key that is there already. */
MYR_MUST_USE int myr_io_csr_of(const char *name, struct myr_str key, struct myr_buf *ret_csr,
                               struct myr_err *err);
/* The further names of a certificate, as 'alt_names' takes them; empty when it has none. */
MYR_MUST_USE int myr_io_alt_names(struct myr_str certificate, struct myr_buf *ret,
                                  struct myr_err *err);
struct myr_io_sign {
    struct myr_str ca_certificate, ca_key;
    uint32_t days;
    bool server;           /* for the service: else for a node */
    const char *alt_names; /* "DNS:head,IP:10.0.0.1", or NULL */
    const char *name;      /* the name it must ask for; NULL: any */
};
/* 'ret_name' is what the request asks for; 'ret_serial' the certificate's number in hex. */
MYR_MUST_USE int myr_io_ca_sign(const struct myr_io_sign *sign, struct myr_str csr,
                                struct myr_buf *ret_certificate, struct myr_buf *ret_name,
                                struct myr_buf *ret_serial, struct myr_err *err);
/* SHA-256 of a certificate, 64 hex digits. */
MYR_MUST_USE int myr_io_fingerprint(struct myr_str certificate, char ret[65], struct myr_err *err);
/* Seconds from now until it is no longer valid; negative: since when. */
MYR_MUST_USE int myr_io_valid_s(struct myr_str certificate, int64_t *ret, struct myr_err *err);
/* 'bytes' of the system's randomness as hex, for tokens. */
MYR_MUST_USE int myr_io_secret(uint32_t bytes, struct myr_buf *ret, struct myr_err *err);
/* SHA-256 of a text, 64 hex digits: tokens are kept as this. */
void myr_io_digest(struct myr_str text, char ret[65]);
