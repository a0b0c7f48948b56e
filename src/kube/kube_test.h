/* What the tests of kube share: an object as the watch tells it. Include it after cmocka. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "kube.h"

/* Single quotes stand for double ones. */
MYR_PRINTF(4, 5)
static inline void tell(struct myr_kube_cluster *c, enum myr_kube_kind kind, int64_t now_ms,
                        const char *fmt, ...)
{
    char text[4096];
    struct myr_kube_said said;
    struct myr_err err = {};
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < sizeof(text));
    for (char *at = text; *at; at++) {
        *at = (char)(*at == '\'' ? '"' : *at);
    }
    if (myr_kube_line(c, kind, myr_str_from(text), now_ms, &said, &err) != MYR_OK) {
        fail_msg("%s: %s", err.message, text);
    }
}

/* All that is read of an object. */
static inline bool are_same(const struct kube_pod *a, const struct kube_pod *b)
{
    const struct myr_str *const left[] = {
        &a->space,      &a->name,       &a->uid,       &a->node,      &a->gang,
        &a->owner_kind, &a->owner_name, &a->owner_uid, &a->owner_api, &a->hostname,
        &a->subdomain,  &a->plan,       &a->placement, &a->master,    &a->planned_node};
    const struct myr_str *const right[] = {
        &b->space,      &b->name,       &b->uid,       &b->node,      &b->gang,
        &b->owner_kind, &b->owner_name, &b->owner_uid, &b->owner_api, &b->hostname,
        &b->subdomain,  &b->plan,       &b->placement, &b->master,    &b->planned_node};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(left); i++) {
        if (!myr_str_eq(*left[i], *right[i]) || right[i]->data[right[i]->len] != '\0') {
            return false;
        }
    }
    return a->ours == b->ours && a->deleting == b->deleting && a->phase == b->phase &&
           a->host_network == b->host_network && a->indexed == b->indexed && a->index == b->index &&
           a->gang_size == b->gang_size && a->priority == b->priority &&
           a->own_priority == b->own_priority && a->created_ms == b->created_ms &&
           a->planned_rank == b->planned_rank && a->planned_world == b->planned_world &&
           a->needs->digest == b->needs->digest &&
           strcmp(a->needs->refused, b->needs->refused) == 0;
}
