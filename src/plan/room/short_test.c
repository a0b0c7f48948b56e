/* Layers that may be short: what speaks against one is that no rack has the seats for it near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "room/staged_test.h"

static uint32_t layers_of(struct staged *s, double drop_m, double rack_kw)
{
    struct short_layer found[ROOM_SHORT_MAX];
    uint32_t layers = 0;
    s->p.spec.room.drop_m = drop_m;
    for (uint32_t i = 0; i < s->room.rack_count; i++) {
        s->room.racks[i].watts_max = (int64_t)(rack_kw * 1000);
    }
    uint32_t count = room_short_layers(&s->room, found);
    for (uint32_t i = 0; i < count; i++) {
        /* Five metres is what copper of two links reaches. */
        assert_int_equal(found[i].length_mm, 5000);
        assert_int_equal(found[i].net, MYR_NET_COMPUTE);
        layers |= 1U << found[i].layer;
    }
    return layers;
}

static void drops_and_crowded_racks_rule_short_layers_out(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "servers: 9\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 8, "
        "leaf_up: 8}}\nroom: {rack_u: 42, rows: 4, columns: 4, rack_kw: 12, slack: {percent: 3, m: "
        "0.1}}\n",
        "servers: 16\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, topology: "
        "clos, "
        "leaf_down: 16, leaf_up: 16}}\nroom: {rack_u: 42, rows: 5, columns: 5, rack_kw: 12, slack: "
        "{percent: 3, m: 0.1}}\n",
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct staged s;
        staged_begin(&s, specs[i]);
        uint32_t last = UINT32_MAX;
        for (double drop_m = 0.5; drop_m < 2.7; drop_m += 0.1) {
            uint32_t one = layers_of(&s, drop_m, 12), all = layers_of(&s, drop_m, 60);
            /* Longer drops and less power leave fewer of them, never others. */
            assert_int_equal(one & ~last, 0);
            assert_int_equal(one & ~all, 0);
            last = one;
        }
        assert_true(layers_of(&s, 0.5, 60) & 1U << MYR_LAYER_FABRIC);
        assert_int_equal(layers_of(&s, 2.5, 60), 0); /* two drops are five metres already */
        assert_int_equal(layers_of(&s, 0.5, 0), 0);  /* a rack that carries nothing has no seat */
        staged_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_and_crowded_racks_rule_short_layers_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
