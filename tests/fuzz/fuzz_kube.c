/*
 * What an API server sends: lines of a watch and pages of lists, of nodes and of pods. Whatever
 * comes, decisions are made on it, and no node is given to more pods than fit.
 */
#include "fuzz.h"
#include "myriad/kube.h"

static void check_decisions(struct myr_kube_cluster *cluster)
{
    uint32_t count;
    const struct myr_kube_decision *decisions = myr_kube_decide(cluster, 1800000000000, 1, &count);
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(decisions[i].gang && decisions[i].reason);
        fuzz_note("%s: %d %s", decisions[i].gang, (int)decisions[i].act, decisions[i].reason);
        for (uint32_t k = 0; k < decisions[i].seat_count; k++) {
            const struct myr_kube_seat *seat = &decisions[i].seats[k];
            fuzz_note("%s/%s on %s", seat->space, seat->name, seat->node);
            MYR_ASSERT(seat->name[0] && seat->space[0] && seat->uid[0]);
            MYR_ASSERT(decisions[i].act != MYR_KUBE_BIND || seat->node[0]);
        }
    }
}

/* The first byte of a line says what it is: 'n' and 'p' a watch, 'N' and 'P' a page of a list. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *cluster = myr_kube_cluster_create(&policy);
    struct myr_kube_page page = {};
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        struct myr_str text = {(const char *)data + at + 1, length ? length - 1 : 0};
        struct myr_kube_said said;
        struct myr_err err = {};
        char kind = length ? (char)data[at] : 0;
        int rc = MYR_OK;
        if (kind == 'n' || kind == 'p') {
            rc = myr_kube_line(cluster, kind == 'n' ? MYR_KUBE_NODES : MYR_KUBE_PODS, text,
                               1800000000000, &said, &err);
        } else if (kind == 'N' || kind == 'P') {
            rc = myr_kube_list(cluster, kind == 'N' ? MYR_KUBE_NODES : MYR_KUBE_PODS,
                               page.more.len == 0, text, 1800000000000, &page, &err);
        } else if (kind == 'd') {
            check_decisions(cluster);
        }
        if (rc < 0) {
            fuzz_note_error(&err);
            MYR_ASSERT(err.code == rc && err.message[0] && !strchr(err.message, '\n'));
        }
        at += length + 1;
    }
    check_decisions(cluster);
    check_decisions(cluster);
    myr_buf_done(&page.more);
    myr_kube_cluster_free(cluster);
    return 0;
}
