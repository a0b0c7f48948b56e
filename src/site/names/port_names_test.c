#include "myriad/site/port_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "names/expr.h"
#include "names/reading.h"

struct fixture {
    struct myr_arena arena;
    struct myr_port_names names;
    struct myr_catalog catalog;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    assert_int_equal(myr_port_names_init(&f->names, &f->arena, &f->err), MYR_OK);
    assert_int_equal(myr_catalog_init(&f->catalog, &f->arena, &f->err), MYR_OK);
}

static void finish(struct fixture *f)
{
    myr_port_names_done(&f->names);
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
}

static struct myr_str word_of(struct myr_str text, char divider, uint32_t index)
{
    struct myr_str word = {text.data, 0};
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != divider) {
            word.len++;
        } else if (index-- == 0) {
            return word;
        } else {
            word = (struct myr_str){text.data + i + 1, 0};
        }
    }
    return word;
}

/* A box of the first platform that the rule names, divided as its example says. */
static struct myr_box box_for(const struct fixture *f, const struct myr_name_rule *rule,
                              struct myr_devtype *type)
{
    static const struct {
        const char *platform, *part;
    } parts[] = {{"infiniband", "mqm9790-ns2f"},
                 {"ethernet", "sn5600"},
                 {"any", "q3400"},
                 {"sn6810", "sn5600"}};
    struct myr_str part = word_of(rule->platform, ' ', 0);
    struct myr_box box = {.part = part, .technology = MYR_TECH_ANY, .cages = 64, .lanes = 8};
    uint64_t ports;
    assert_true(myr_str_to_u64(rule->ports, &ports));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        part =
            myr_str_eq(part, myr_str_from(parts[i].platform)) ? myr_str_from(parts[i].part) : part;
    }
    uint32_t found = myr_catalog_find(&f->catalog, part);
    assert_int_not_equal(found, MYR_PART_NONE);
    const struct myr_part *known = &f->catalog.parts.items[found];
    box.host = known->kind == MYR_PART_SERVER;
    box.cages = box.host ? 8 : known->sw.cages;
    box.technology = box.host ? MYR_TECH_ANY : known->sw.technology;
    uint16_t connectors = ports > 2 && box.technology == MYR_TECH_INFINIBAND ? 2 : (uint16_t)ports;
    *type = (struct myr_devtype){.group_count = 1, .cages = box.cages};
    type->groups[0] = (struct myr_port_group){.count = box.cages * (uint32_t)ports,
                                              .per_cage = (uint16_t)ports,
                                              .per_connector = (uint16_t)(ports / connectors),
                                              .role = box.host ? MYR_PORT_NIC : MYR_PORT_DOWN};
    type->port_count = type->groups[0].count;
    box.type = type;
    box.numbers = (uint32_t)ports;
    return box;
}

static void every_rule_reads_its_example_as_its_source_says(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_true(f.names.rules.count >= 70);
    for (size_t i = 0; i < f.names.rules.count; i++) {
        const struct myr_name_rule *rule = &f.names.rules.items[i];
        struct myr_devtype type;
        struct myr_box box = box_for(&f, rule, &type);
        uint64_t cage, lane, ports;
        assert_true(myr_str_to_u64(word_of(rule->at, '/', 0), &cage));
        assert_true(myr_str_to_u64(word_of(rule->at, '/', 1), &lane));
        assert_true(myr_str_to_u64(rule->ports, &ports));
        uint32_t wanted = cage ? (uint32_t)((cage - 1) * ports + lane - 1) : MYR_PORT_SPARE;
        uint32_t found = reading_by_rule(rule, &box, rule->example);
        if (found != wanted || !reading_rule_fits(rule, &box)) {
            fail_msg("%.*s: %u, expected %u", (int)rule->example.len, rule->example.data, found,
                     wanted);
        }
    }
    finish(&f);
}

/* Names mean what the box's system says, and nothing where it has no such port. */
static void names_have_a_reading_for_each_system(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct myr_devtype type = {.group_count = 1, .cages = 64, .port_count = 64};
    type.groups[0] = (struct myr_port_group){
        .count = 64, .per_cage = 1, .per_connector = 1, .role = MYR_PORT_DOWN};
    struct myr_box box = {.type = &type,
                          .part = MYR_STR("sn5600"),
                          .technology = MYR_TECH_ETHERNET,
                          .cages = 64,
                          .lanes = 8,
                          .numbers = 1};
    uint32_t readings[MYR_PORT_SYSTEMS_MAX], different = 0, last = MYR_NONE;
    uint32_t mask = myr_port_names_read(&f.names, &box, MYR_STR(" ETHERNET8 "), readings);
    for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
        if (mask >> s & 1) {
            assert_true(readings[s] == 1 || readings[s] == 7); /* cage 2 or cage 8 */
            different += last != MYR_NONE && readings[s] != last;
            last = readings[s];
        }
    }
    assert_true(different > 0);
    assert_int_equal(myr_port_names_read(&f.names, &box, MYR_STR("swp65"), readings), 0);
    assert_int_equal(myr_port_names_read(&f.names, &box, MYR_STR("swp1s0"), readings), 0);
    assert_int_equal(myr_port_names_read(&f.names, &box, MYR_STR(""), readings), 0);
    finish(&f);
}

static void a_users_rules_are_added(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    static const char good[] = "platform,os,pattern,when,cage,lane\nany,mine,slot{a},,a+1,1\n";
    static const char *const bad[] = {
        "",
        "platform,os\n",
        "platform,os,pattern,when,cage,lane\nany,x,{z},,1,1\n",
        "platform,os,pattern,when,cage,lane\nany,x,a{a},,b+,1\n",
        "platform,os,pattern,when,cage,lane\nany,x,a{a},(a,1,1\n",
        "platform,os,pattern,when,cage,lane\nany,x,a{a},,nothing,1\n"};
    assert_int_equal(
        myr_port_names_add_text(&f.names, &f.arena, "mine.csv", myr_str_from(good), &f.err),
        MYR_OK);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_true(myr_port_names_add_text(&f.names, &f.arena, "bad.csv", myr_str_from(bad[i]),
                                            &f.err) < 0);
        assert_memory_equal(f.err.message, "bad.csv:", 8);
    }
    finish(&f);
}

static void expressions_have_the_usual_order(void **state)
{
    (void)state;
    static const struct expr_variable variables[] = {{"a", 7}, {"b", 2}, {"none", -1}};
    const struct expr_scope scope = {variables, 3};
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"1+2*3", 7},          {"(1+2)*3", 9},   {"a%4/b", 1},      {"a-b-1", 4},
                 {"a > b & b == 2", 1}, {"a < b & 1", 0}, {"a/b*b != a", 1}, {"2*(3+(a-5))", 10},
                 {"a >= 7", 1},         {"b <= 1", 0}};
    int64_t value;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        assert_true(expr_value(myr_str_from(cases[i].text), &scope, &value));
        assert_int_equal(value, cases[i].value);
    }
    assert_false(expr_value(MYR_STR("a/(b-2)"), &scope, &value));
    assert_false(expr_value(MYR_STR("none+1"), &scope, &value));
    assert_false(expr_value(MYR_STR("1000000000*2"), &scope, &value));
    static const char *const bad[] = {"",    "1+", "(1", "1)",
                                      "1 2", "x",  "+1", "((((((((((((((((((1"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_non_null(expr_fault(myr_str_from(bad[i]), &scope));
    }
}

/* Each operator beside each other one: what binds closer is done first, equals from the left. */
static void every_pair_of_operators_has_its_order(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"7-2-1", 4},
                 {"7-(2-1)", 6},
                 {"20/5*2", 8},
                 {"20/(5*2)", 2},
                 {"20%7*2", 12},
                 {"2*20%7", 5},
                 {"1+2*3", 7},
                 {"2*3+1", 7},
                 {"1+8/2", 5},
                 {"9-7%4", 6},
                 {"1+2 == 3", 1},
                 {"3 == 1+2", 1},
                 {"1 != 1 & 1", 0},
                 {"1 & 2 != 2", 0},
                 {"1 & 2 == 2", 1},
                 {"0 & 1", 0},
                 {"1 & 0", 0},
                 {"2 & 3", 1},
                 {"3 < 3", 0},
                 {"2 < 3", 1},
                 {"3 > 3", 0},
                 {"4 > 3", 1},
                 {"3 <= 3", 1},
                 {"4 <= 3", 0},
                 {"3 >= 3", 1},
                 {"2 >= 3", 0},
                 {"3 == 3 & 4 != 4", 0},
                 {" ( ( 7 ) ) ", 7},
                 {"((((((((((((((((7))))))))))))))))", 7},
                 {"1-3", -2},
                 {"1000000000", 1000000000},
                 {"0-1000000000", -1000000000},
                 {"999999999+1", 1000000000}};
    static const struct {
        const char *text, *fault;
    } bad[] = {{"", "a number, a name or '(' is expected"},
               {"1+", "a number, a name or '(' is expected"},
               {"A", "a number, a name or '(' is expected"},
               {"(1", "'(' without ')'"},
               {"1)", "')' without '('"},
               {"(1))", "')' without '('"},
               {"1 2", "an operator is expected"},
               {"1=2", "an operator is expected"},
               {"zz", "a name that is none of the captured or given ones"},
               {"(((((((((((((((((1", "too many brackets"},
               {"((((((((((((((((1+1", "too long"}};
    struct expr_scope scope = {.count = 0};
    int64_t value;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        if (!expr_value(myr_str_from(cases[i].text), &scope, &value) || value != cases[i].value) {
            fail_msg("%s: %lld is expected", cases[i].text, (long long)cases[i].value);
        }
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_string_equal(expr_fault(myr_str_from(bad[i].text), &scope), bad[i].fault);
        assert_false(expr_value(myr_str_from(bad[i].text), &scope, &value));
    }
    static const char *const none[] = {
        "1/0", "1%0", "1000000001", "1000000000+1", "0-1000000000-1", "100000*100000"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(none); i++) {
        assert_null(expr_fault(myr_str_from(none[i]), &scope)); /* well formed, without a value */
        assert_false(expr_value(myr_str_from(none[i]), &scope, &value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_reads_its_example_as_its_source_says),
        cmocka_unit_test(names_have_a_reading_for_each_system),
        cmocka_unit_test(a_users_rules_are_added),
        cmocka_unit_test(expressions_have_the_usual_order),
        cmocka_unit_test(every_pair_of_operators_has_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
