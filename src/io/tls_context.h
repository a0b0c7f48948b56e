/* What stream.c needs of tls.c. */
#pragma once

#include <openssl/ssl.h>

#include "myriad/base.h"
#include "myriad/io/tls.h"

/* Knows whom it expects, where that is a host of somebody else's. NULL without memory. */
SSL *tls_new(struct myr_io_tls *tls);
/* Takes what is in 'in' from where it lies, and appends to 'out'; both outlive it. */
BIO *tls_bio(struct myr_io_tls *tls, struct myr_str *in, struct myr_buf *out);
bool tls_is_server(const struct myr_io_tls *tls);
/* Is the peer whom we may speak to? Called when the handshake is done. */
int tls_judge(const struct myr_io_tls *tls, SSL *ssl, struct myr_err *err);
void tls_ref(struct myr_io_tls *tls);
