/* All that the server keeps, takes and says: every row is told of, once, and fits its struct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "api.h"
#include "myriad/server/records.h"

static uint32_t looked_at;

static void is_sound(const struct myr_record *record)
{
    assert_true(record->count > 0 && record->count <= MYR_RECORD_ROWS_MAX && record->doc[0]);
    looked_at++;
    for (uint32_t i = 0; i < record->count; i++) {
        const struct myr_row *row = &record->rows[i];
        if (!row->doc[0] || row->low > row->high || row->at + row->size > record->size) {
            fail_msg("%s.%s", record->name, row->key);
        }
        assert_true(row->kind != MYR_FIELD_OWN || (row->read && row->shape));
        for (uint32_t k = 0; k < i; k++) {
            const struct myr_row *other = &record->rows[k];
            assert_string_not_equal(other->key, row->key);
            assert_true(other->at + other->size <= row->at || row->at + row->size <= other->at);
        }
        if (row->of) {
            is_sound(row->of);
        }
    }
}

static void every_record_is_sound(void **state)
{
    (void)state;
    for (uint32_t i = 0; myr_server_kept[i]; i++) {
        is_sound(myr_server_kept[i]);
    }
    for (size_t i = 0; i < api_route_count; i++) {
        const struct route *route = &api_routes[i];
        assert_true((route->gives != NULL) == (route->media == NULL)); /* JSON, or not */
        const struct myr_record *records[] = {route->takes, route->gives, route->or_gives};
        for (size_t k = 0; k < MYR_ARRAY_COUNT(records); k++) {
            if (records[k]) {
                is_sound(records[k]);
            }
        }
    }
    assert_true(looked_at > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
