/*
 * A lease whose questions are not answered, or not as they should be, request by request, as one
 * text (tests/kept/kube-leases.txt): what is said of it, when it is asked again, and who binds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <uv.h>

#include "api_test.h"
#include "kept.h"
#include "leaks.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

static const struct {
    int way;
    const char *text;
} ways[] = {
    {API_CLOSES, ""}, {API_IS_SILENT, ""}, {API_BABBLES, ""},         {API_BREAKS_OFF, ""},
    {302, ""},        {401, ""},           {403, "leases of others"}, {200, "[]"},
};

/* Looking for it, making it, and renewing it: the last by a holder, who has more than one try. */
static void questions_that_go_wrong(void **state)
{
    static const char *const methods[] = {"GET", "POST", "PUT"};
    (void)state;
    for (size_t m = 0; m < MYR_ARRAY_COUNT(methods); m++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(ways); i++) {
            char title[100];
            snprintf(title, sizeof(title), "%s of the lease: %d %s", methods[m], ways[i].way,
                     ways[i].text);
            api_begin(title);
            api.only = "lease";
            api_nodes(2);
            api_gang("g", 2);
            api_fault(methods[m], "/leases", ways[i].way, ways[i].text, 1);
            api_schedule(ways[i].way == API_IS_SILENT ? 24 : 7, 6); /* seconds: silence is long */
            api_end();
        }
    }
}

/* A test of its own: the end of a group would count for nothing. */
static void all_of_it_is_as_it_was(void **state)
{
    (void)state;
    assert_kept("kube-leases.txt", &api.story);
    myr_buf_done(&api.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_that_go_wrong),
        cmocka_unit_test(all_of_it_is_as_it_was),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
