/* What stream.c needs of tls.c. */
#pragma once

#include <openssl/ssl.h>

#include "myriad/io/tls.h"

SSL *tls_new(struct myr_io_tls *tls);
bool tls_is_server(const struct myr_io_tls *tls);
/* Is the peer whom we may speak to? Called when the handshake is done. */
int tls_judge(const struct myr_io_tls *tls, SSL *ssl, struct myr_err *err);
void tls_ref(struct myr_io_tls *tls);
