/*
 * stops: up to which epoch nothing of a job may run here, nor ever will.
 *
 * On the disk before anybody is told. The file only grows, a line a stop, and is written anew when
 * it has grown too long; a line without its end was never answered and does not count. What was not
 * needed for longest is forgotten first.
 */
#pragma once

#include "disk/files.h"

#define STOPS_MAX 4096 /* jobs that are remembered */

struct stop {
    uint64_t job;
    uint32_t epoch;
    uint64_t used; /* grows */
};

struct stops {
    const char *folder;
    MYR_VEC(struct stop) items;
    uint64_t clock; /* of uses */
    uint32_t lines; /* in the file */
    bool torn;      /* it ends in a part of a line, which the next one must not continue */
    int fd;         /* to append; -1: none */
};

MYR_MUST_USE int stops_open(struct stops *stops, const char *folder, struct myr_err *err);
void stops_done(struct stops *stops);
/* Takes the lines of a file; for the fuzzer as well. */
void stops_read(struct stops *stops, struct myr_str text);
MYR_MUST_USE int stops_add(struct stops *stops, uint64_t job, uint32_t epoch, struct myr_err *err);
bool stops_has(struct stops *stops, uint64_t job, uint32_t epoch);
