/*
 * What libraries keep for the whole process they give back before leaks.c counts: so a test may say
 * to the piece how many stay, and a forgotten free is noticed without a sanitizer. Include it
 * beside leaks.h.
 */
#pragma once

#include <openssl/crypto.h>
#include <sqlite3.h>
#include <uv.h>

/* The C library keeps the time zone, in pieces that nobody can give back. */
enum { TIME_ZONE_PIECES = 3 };

__attribute__((destructor)) static void libraries_give_back(void)
{
    OPENSSL_cleanup();
    (void)sqlite3_shutdown();
    uv_library_shutdown();
}
