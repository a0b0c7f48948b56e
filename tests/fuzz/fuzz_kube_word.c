/*
 * Words of a watch of pods in protobuf, each behind its length, on a cluster of two nodes. Whatever
 * comes, decisions are made on it.
 */
#include "fuzz.h"
#include "myriad/kube.h"

#define NOW_MS 1800000000000

static void add_nodes(struct myr_kube_cluster *cluster)
{
    static const char *const lines[] = {
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"node-0\",\"uid\":\"a\"},\"spec\":"
        "{},"
        "\"status\":{\"allocatable\":{\"cpu\":\"64\",\"memory\":\"1Ti\",\"nvidia.com/gpu\":\"8\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}}",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"node-1\",\"uid\":\"b\"},\"spec\":"
        "{},"
        "\"status\":{\"allocatable\":{\"cpu\":\"64\",\"memory\":\"1Ti\",\"nvidia.com/gpu\":\"8\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}}"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        struct myr_kube_said said;
        int rc =
            myr_kube_line(cluster, MYR_KUBE_NODES, myr_str_from(lines[i]), NOW_MS, &said, NULL);
        MYR_ASSERT(rc == MYR_OK);
    }
}

static void check_decisions(struct myr_kube_cluster *cluster)
{
    uint32_t count;
    const struct myr_kube_decision *decisions = myr_kube_decide(cluster, NOW_MS, 1, &count);
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(decisions[i].gang && decisions[i].reason);
        fuzz_note("%s: %d %s", decisions[i].gang, (int)decisions[i].act, decisions[i].reason);
        for (uint32_t k = 0; k < decisions[i].seat_count; k++) {
            const struct myr_kube_seat *seat = &decisions[i].seats[k];
            MYR_ASSERT(seat->name[0] && seat->space[0] && seat->uid[0]);
            MYR_ASSERT(decisions[i].act != MYR_KUBE_BIND || seat->node[0]);
        }
    }
}

static void take(struct myr_kube_cluster *cluster, struct myr_str word)
{
    struct myr_kube_said said = {};
    struct myr_err err = {};
    int rc = myr_kube_word(cluster, word, NOW_MS, &said, &err);
    if (rc < 0) {
        fuzz_note_error(&err);
        MYR_ASSERT(err.code == rc && err.message[0] && !strchr(err.message, '\n'));
        return;
    }
    fuzz_note("%d %s %u %s", (int)said.change, said.version, said.code, said.text);
    MYR_ASSERT(said.change <= MYR_KUBE_ERROR);
    for (const char *at = said.version; *at; at++) {
        MYR_ASSERT(*at >= '0' && *at <= '9'); /* it goes into a path */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    policy.scheduler = "probe";
    struct myr_kube_cluster *cluster = myr_kube_cluster_create(&policy);
    add_nodes(cluster);
    while (size >= 4) {
        size_t length = (size_t)data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3];
        length = length < size - 4 ? length : size - 4;
        take(cluster, (struct myr_str){(const char *)data + 4, length});
        data += 4 + length;
        size -= 4 + length;
    }
    struct myr_kube_counts counts = myr_kube_counts(cluster);
    fuzz_note("%u pods, %u ours, %u bound", counts.pods, counts.ours, counts.bound);
    check_decisions(cluster);
    check_decisions(cluster);
    myr_kube_cluster_free(cluster);
    return 0;
}
