/* Node lists from the command line: the bits of exactly the nodes listed, or one clear line. */
#include "fuzz.h"
#include "myriad/sched.h"

enum { NODES = 200, WORDS = NODES / 64 + 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t bits[WORDS + 1] = {};
    struct myr_err err = {};
    struct myr_str text = {(const char *)data, size};
    int rc = myr_node_list_parse("--exclude", text, NODES, bits, &err);
    MYR_ASSERT(bits[WORDS] == 0 && bits[WORDS - 1] >> NODES % 64 == 0);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "--exclude:1:");
        return 0;
    }
    /* Read back as single nodes it is the same set. */
    struct myr_buf again = {};
    uint64_t same[WORDS + 1] = {};
    for (uint32_t node = 0; node < NODES; node++) {
        if (bits[node / 64] >> node % 64 & 1) {
            myr_buf_printf(&again, "%s%u", again.len ? "," : "", node);
        }
    }
    fuzz_note_text("nodes", &again);
    rc = myr_node_list_parse("--exclude", (struct myr_str){again.data, again.len}, NODES, same,
                             &err);
    MYR_ASSERT(rc == MYR_OK && memcmp(bits, same, sizeof(bits)) == 0);
    myr_buf_done(&again);
    return 0;
}
