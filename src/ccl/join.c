#include <stdlib.h>

#include "group.h"
#include "map.h"

#define MEMBERS_MAX (MYR_CCL_PLACES_MAX / 2)
#define STAGE_MIN   4096u
#define STAGE_MAX   (4u << 20)
#define SPINS       2000
#define SPINS_CROWD 4

static int check(const struct myr_ccl_conf *conf, struct myr_ccl_conf *ret, struct myr_err *err)
{
    *ret = *conf;
    if (conf->members < 1 || conf->members > MEMBERS_MAX) {
        return myr_err_set(err, MYR_EINVAL, "a group has 1 to %d members, not %u", MEMBERS_MAX,
                           conf->members);
    }
    ret->places = conf->places ? conf->places : 2 * conf->members;
    if (ret->places < conf->members || ret->places > MYR_CCL_PLACES_MAX) {
        return myr_err_set(err, MYR_EINVAL, "%u members need %u to %d places, not %u",
                           conf->members, conf->members, MYR_CCL_PLACES_MAX, conf->places);
    }
    ret->stage_bytes = conf->stage_bytes ? conf->stage_bytes : 128u << 10;
    if (ret->stage_bytes < STAGE_MIN || ret->stage_bytes > STAGE_MAX || ret->stage_bytes % 64) {
        return myr_err_set(err, MYR_EINVAL, "a stage has %u to %u bytes, a multiple of 64, not %u",
                           STAGE_MIN, STAGE_MAX, conf->stage_bytes);
    }
    return MYR_OK;
}

static int take_memory(struct myr_ccl *ccl)
{
    size_t known = offsetof(struct ccl_known, record) + ccl->layout.record_bytes;
    ccl->seats = calloc(ccl->places, sizeof(*ccl->seats));
    ccl->lines = calloc(ccl->places, sizeof(struct ccl_line *));
    ccl->met = calloc(ccl->places, sizeof(*ccl->met));
    ccl->inputs = calloc(ccl->places, sizeof(void *));
    ccl->known = calloc(1, known);
    ccl->seen = calloc(1, known);
    ccl->draft = calloc(1, known);
    return ccl->seats && ccl->lines && ccl->met && ccl->inputs && ccl->known && ccl->seen &&
                   ccl->draft
               ? MYR_OK
               : MYR_ENOMEM;
}

void ccl_free(struct myr_ccl *ccl)
{
    if (!ccl) {
        return;
    }
    free(ccl->seats);
    free(ccl->lines);
    free(ccl->met);
    free(ccl->inputs);
    free(ccl->known);
    free(ccl->seen);
    free(ccl->draft);
    ccl_map_close(ccl->map);
    ccl_real_free(ccl->real);
    free(ccl);
}

int ccl_create(const struct myr_ccl_conf *conf, const struct ccl_world *world, struct myr_ccl **ret,
               struct myr_err *err)
{
    struct myr_ccl *ccl = calloc(1, sizeof(*ccl));
    if (!ccl) {
        return myr_err_set(err, MYR_ENOMEM, "no memory for a group");
    }
    ccl->places = conf->places;
    ccl_layout(conf->places, conf->stage_bytes, &ccl->layout);
    if (world) {
        ccl->world = *world;
    } else {
        ccl->real = ccl_real_create(&ccl->world);
    }
    if ((!world && !ccl->real) || take_memory(ccl) < 0) {
        ccl_free(ccl);
        return myr_err_set(err, MYR_ENOMEM, "no memory for a group");
    }
    *ret = ccl;
    return MYR_OK;
}

int ccl_join_in(struct myr_ccl *ccl, const struct myr_ccl_conf *conf, int64_t timeout_ns,
                struct myr_err *err)
{
    int64_t deadline_ns = ccl_later(ccl_now(ccl), timeout_ns);
    MYR_TRY(ccl_place_claim(ccl, conf->tag, deadline_ns, err));
    ccl_ring(ccl); /* members may wait for one more */
    struct myr_ccl_reform how = {.least = conf->members, .want = conf->members};
    int rc = ccl_reform(ccl, &how, deadline_ns, err);
    if (rc < 0) {
        ccl_place_free(ccl);
        return rc;
    }
    ccl->spins = ccl->size > ccl->world.cores ? SPINS_CROWD : SPINS;
    return MYR_OK;
}

int myr_ccl_join(const struct myr_ccl_conf *conf, int64_t timeout_ns, struct myr_ccl **ret,
                 struct myr_err *err)
{
    struct myr_ccl_conf full;
    if (!conf || !ret || timeout_ns <= 0) {
        return myr_err_set(err, MYR_EINVAL, "a group is joined with a description and a time");
    }
    MYR_TRY(check(conf, &full, err));
    struct myr_ccl *ccl;
    MYR_TRY(ccl_create(&full, NULL, &ccl, err));
    int rc = ccl_map_open(&full, &ccl->map, err);
    if (rc == MYR_OK) {
        ccl->shared = ccl_map_shared(ccl->map);
        rc = ccl_join_in(ccl, &full, timeout_ns, err);
    }
    if (rc < 0) {
        ccl_free(ccl);
        return rc;
    }
    *ret = ccl;
    return MYR_OK;
}

void myr_ccl_leave(struct myr_ccl *ccl)
{
    if (!ccl) {
        return;
    }
    ccl_place_free(ccl);
    ccl_revoke(ccl, ccl->epoch);
    ccl_free(ccl);
}
