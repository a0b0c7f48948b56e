/* Rules of port names, and names read by the built-in ones. */
#include "fuzz_site.h"

/* The built-in rules are read once; what an input added to the lists is taken off again. */
static struct myr_port_names *builtin(void)
{
    static struct myr_arena arena;
    static struct myr_port_names names;
    static uint32_t rule_count, system_count;
    if (rule_count == 0) {
        struct myr_err err;
        myr_arena_init(&arena);
        int rc = myr_port_names_init(&names, &arena, &err);
        MYR_ASSERT(rc == MYR_OK);
        rule_count = (uint32_t)names.rules.count;
        system_count = (uint32_t)names.systems.count;
    }
    names.rules.count = rule_count;
    names.systems.count = system_count;
    return &names;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    struct myr_port_names *names = builtin();
    struct myr_err err;
    struct myr_str text = {(const char *)data, size};
    uint32_t readings[MYR_PORT_SYSTEMS_MAX];
    myr_arena_init(&arena);
    int rc = myr_port_names_add_text(names, &arena, "names.csv", text, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "names.csv");
    }
    const struct myr_design *design = fuzz_lab();
    for (uint32_t t = 0; t < design->devtype_count; t++) {
        struct myr_box box;
        myr_box_of(design, t, NULL, &box);
        uint32_t mask = myr_port_names_read(names, &box, text, readings);
        fuzz_note("%x", mask);
        for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
            if (mask >> s & 1) {
                fuzz_note("%u", readings[s]);
            }
            MYR_ASSERT(!(mask >> s & 1) || readings[s] == MYR_PORT_SPARE ||
                       readings[s] < design->devtypes[t].port_count);
        }
    }
    myr_arena_done(&arena);
    return 0;
}
