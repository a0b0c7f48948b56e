/* What must not be shown: tokens, keys, certificates. Private. */
#pragma once

#include "myriad/base.h"

/*
 * Bytes of the word that the text begins with when it looks drawn at random, as tokens and keys
 * are: twenty letters and digits at least that change between the two all the time. 0 when it does
 * not.
 */
size_t secret_length(struct myr_str text);
/* A token, a key or a certificate, by the text or by the name of the file. */
bool secret_is_text(struct myr_str text);
bool secret_is_pem(struct myr_str text);
bool secret_is_name(const char *file);
