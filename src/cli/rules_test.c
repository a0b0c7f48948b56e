/* What verbs say of options that need each other, in rows and in rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli.h"

static bool has_row(const struct myr_command *row, const char *name, size_t len)
{
    bool found = false;
    for (uint32_t i = 0; i < row->option_count + (row->common ? row->common->count : 0); i++) {
        const struct myr_option *option =
            i < row->option_count ? &row->options[i] : &row->common->rows[i - row->option_count];
        found = found || (strlen(option->name) == len && memcmp(option->name, name, len) == 0);
    }
    return found;
}

static void expect_rows(const struct myr_command *row, const char *names)
{
    for (const char *at = names; at && *at;) {
        size_t len = strcspn(at, " ");
        if (!has_row(row, at, len)) {
            fail_msg("%s: a rule names --%.*s, which it does not have", row->name, (int)len, at);
        }
        at += len + (at[len] == ' ');
    }
}

/* A rule about a name that nobody can type holds for nothing. */
static void rules_name_options_of_their_verb(void **state)
{
    (void)state;
    uint32_t count, rules = 0;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *row = verbs[i]->row;
        for (uint32_t k = 0; k < row->option_count; k++) {
            expect_rows(row, row->options[k].needs);
            expect_rows(row, row->options[k].against);
        }
        for (uint32_t k = 0; k < row->rule_count; k++, rules++) {
            expect_rows(row, row->rules[k].options);
            expect_rows(row, row->rules[k].needs);
            expect_rows(row, row->rules[k].against);
        }
    }
    assert_true(rules > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_name_options_of_their_verb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
