/*
 * Racks for what stands in them without being a device: servers of storage tiers and boxes of the
 * bill. The estimate is held against a room, which places every single one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "planned_test.h"

#define WITH(more) "servers: 16\nnetworks: {compute: {switch: mqm9790-ns2f}, storage: }\n" more
#define TIER(more) WITH("storage: {servers: 6, tiers: [{" more "}]}\n")

/* The large ones are no load for a planner that walks through the racks once. */
static const char *const specs[] = {
    TIER("kind: object, capacity_pb: 300"),
    TIER("kind: hybrid, capacity_pb: 120"),
    TIER("kind: object, capacity_pb: 60000"),
    WITH("items: [{part: firewall, quantity: 2000}]\n"),
    WITH("items: [{part: firewall, quantity: 400000}, {part: bastion, quantity: 9000}]\n"),
};

static double racks_of(const char *text)
{
    struct planned p;
    planned_begin(&p, text);
    double racks = planned_number(&p, "power.racks.count");
    if (p.design.room) {
        /* A room that does not say how wide it is becomes as wide as it must, in steps. */
        assert_int_equal(p.design.room->racks_used, (uint32_t)racks);
        assert_true(p.design.rack_count <= racks * 1.1 + 40);
    }
    planned_end(&p);
    return racks;
}

static void the_estimate_has_racks_for_all_that_a_room_has_places_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        double estimate = racks_of(specs[i]);
        myr_buf_printf(&text, "%sroom: {}\n", specs[i]);
        double counted = racks_of(text.data);
        /* Beside servers units may be left in racks that have no power left. */
        if (estimate < counted * 0.94 - 10 || estimate > counted * 1.06 + 10) {
            fail_msg("%s estimated: %.0f, in a room: %.0f", specs[i], estimate, counted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_has_racks_for_all_that_a_room_has_places_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
