/*
 * Whole plans of small specs, each for a rule that few specs meet: every value of the answer, the
 * bill, types of devices and of cables, and links, or why it is refused. Kept word by word in
 * tests/kept/plan-wholes.txt.
 */
#include "wholes_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/plan/report.h"
#include "planned_test.h"

/* " key=value" of all below a value; lists in brackets. Absent networks and empty lists say
 * nothing.
 */
static void tell_flat(const struct myr_value *value, struct myr_buf *told)
{
    for (const struct myr_value *child = value->first; child; child = child->next) {
        const char *key = child->key ? child->key : "";
        if (child->kind == MYR_VALUE_LIST || child->kind == MYR_VALUE_OBJECT) {
            if (child->first) {
                myr_buf_printf(told, " %s[", key);
                tell_flat(child, told);
                myr_buf_puts(told, "]");
            }
        } else if (child->kind != MYR_VALUE_NULL) {
            myr_buf_printf(told, " %s%s%.*s", key, *key ? "=" : "", (int)child->text.len,
                           child->text.data);
        }
    }
}

static void tell_answer(const struct planned *p, struct myr_buf *told)
{
    static const char *const left_out[] = {"bom",   "findings", "figures",
                                           "power", "cooling",  "meta"};
    for (const struct myr_value *child = p->answer.root.first; child; child = child->next) {
        bool skip = child->kind != MYR_VALUE_LIST && child->kind != MYR_VALUE_OBJECT;
        for (size_t i = 0; i < MYR_ARRAY_COUNT(left_out); i++) {
            skip = skip || strcmp(child->key, left_out[i]) == 0;
        }
        bool nets = strcmp(child->key, "networks") == 0;
        for (const struct myr_value *net = child->first; nets && net; net = net->next) {
            if (net->first) {
                myr_buf_printf(told, "  %s:", net->key);
                tell_flat(net, told);
                myr_buf_puts(told, "\n");
            }
        }
        if (!skip && !nets && child->first) {
            myr_buf_printf(told, "  %s:", child->key);
            tell_flat(child, told);
            myr_buf_puts(told, "\n");
        }
    }
}

static void tell_bill(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        const struct myr_bom_more *more = &design->bom_more[i];
        myr_buf_printf(told, "  %llu %s (%s, %s), %s: %s", (unsigned long long)row->quantity,
                       myr_design_str(design, row->part), myr_design_str(design, row->system),
                       myr_design_str(design, row->name), myr_design_str(design, row->rule),
                       myr_design_str(design, row->inputs));
        if (row->unit_cents >= 0) {
            myr_buf_printf(told, "; %lld * = %lld cents, %s, %u months", (long long)row->unit_cents,
                           (long long)row->total_cents, myr_design_str(design, row->price_note),
                           more->warranty_months);
        }
        if (more->spare_permille) {
            myr_buf_printf(told, "; %u of 1000 spare", more->spare_permille);
        }
        myr_buf_puts(told, "\n");
    }
}

/* Types with their ports, the names of the first and the last device of them, and their cards. */
static void tell_types(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t t = 0; t < design->devtype_count; t++) {
        const struct myr_devtype *type = &design->devtypes[t];
        uint32_t first = MYR_NONE, last = 0;
        for (uint32_t d = 0; d < design->device_count; d++) {
            first = design->device_type[d] == t && first == MYR_NONE ? d : first;
            last = design->device_type[d] == t ? d : last;
        }
        myr_buf_printf(told, "  type %s, %u ports, %u cages", myr_design_str(design, type->part),
                       type->port_count, type->cages);
        for (uint32_t g = 0; g < type->group_count; g++) {
            const struct myr_port_group *group = &type->groups[g];
            myr_buf_printf(told, " | %u+%u %uG role %u net %u, cage %u+, %u in one, %u behind one",
                           group->first, group->count, group->gbps, group->role, group->net,
                           group->first_cage, group->per_cage, group->per_connector);
        }
        if (first != MYR_NONE) {
            myr_buf_puts(told, ": ");
            myr_design_name(design, first, told);
            myr_buf_puts(told, " to ");
            myr_design_name(design, last, told);
        }
        myr_buf_puts(told, "\n");
    }
    for (uint32_t i = 0; i < design->card_count; i++) {
        const struct myr_card *card = &design->cards[i];
        myr_buf_printf(told, "  card %u %s in group %u of type %u%s\n", card->count,
                       myr_design_str(design, card->part), card->group, card->devtype,
                       card->asked ? ", asked for" : "");
    }
}

static void tell_link(const struct myr_design *design, uint32_t link, struct myr_buf *told)
{
    const uint32_t ports[] = {design->link_a[link], design->link_b[link]};
    for (uint32_t i = 0; i < 2; i++) {
        myr_buf_puts(told, i ? " - " : ", ");
        myr_design_name(design, design->port_device[ports[i]], told);
        myr_buf_puts(told, ":");
        myr_design_port_name(design, ports[i], told);
    }
}

/* Kinds of cables, and of each the first, some and the last of its links. */
static void tell_cables(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t t = 0; t < design->cabletype_count; t++) {
        const struct myr_cabletype *type = &design->cabletypes[t];
        uint32_t links = 0, seen = 0;
        for (uint32_t link = 0; link < design->link_count; link++) {
            links += design->cable_type[design->link_cable[link]] == t;
        }
        myr_buf_printf(told, "  cable %s %s %s %uG %u mm net %u layer %u medium %u legs %u%s: %u",
                       myr_design_str(design, type->part), myr_design_str(design, type->optic_a),
                       myr_design_str(design, type->optic_b), type->gbps, type->length_mm,
                       type->net, type->layer, type->medium, type->legs,
                       type->head_b ? " head b" : "", links);
        for (uint32_t link = 0; link < design->link_count; link++) {
            if (design->cable_type[design->link_cable[link]] == t) {
                seen++;
                if (seen == 1 || seen == 4 || seen == links / 2 + 1 || seen == links) {
                    tell_link(design, link, told);
                }
            }
        }
        myr_buf_puts(told, "\n");
    }
    uint64_t digest = design->port_count;
    for (uint32_t i = 0; i < design->link_count; i++) {
        digest = myr_hash_u64(digest + design->link_a[i]);
        digest = myr_hash_u64(digest + design->link_b[i]);
        digest = myr_hash_u64(digest + design->link_cable[i]);
    }
    myr_buf_printf(told, "  %u links in %u cables, together %016llx\n", design->link_count,
                   design->cable_count, (unsigned long long)digest);
}

static void tell_sets(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t i = 0; i < design->domain_count; i++) {
        const struct myr_domain *domain = &design->domains[i];
        bool first = i == 0 || domain->kind != domain[-1].kind;
        bool last = i + 1 == design->domain_count || domain->kind != domain[1].kind;
        if (first || last) {
            myr_buf_printf(told, "  set %u %u: %u from %u\n", domain->kind, domain->index,
                           domain->count, design->domain_devices[domain->first]);
        }
    }
    const struct myr_design_head *head = design->head;
    myr_buf_printf(told,
                   "  head %s %s '%s': %u servers, %u nodes of %u, %u gpus of %u, scale-up %u",
                   myr_design_str(design, head->name), myr_design_str(design, head->currency),
                   myr_design_str(design, head->price_book), head->servers, head->nodes,
                   head->nodes_per_server, head->gpus, head->gpus_per_node, head->scale_up_gpus);
    myr_buf_printf(told, " %u Gb/s, %s, %s; %u storage, %u management, %u managers; %lld cents\n",
                   head->scale_up_gbps, myr_design_str(design, head->server_part),
                   myr_design_str(design, head->gpu_part), head->storage_servers,
                   head->management_nodes, head->fabric_managers, (long long)head->total_cents);
}

/* A spec read, with the own parts behind those of the catalogue. */
static void begin(struct planned *p, const char *text)
{
    const struct myr_doc *parts, *doc;
    *p = (struct planned){};
    myr_arena_init(&p->arena);
    assert_int_equal(myr_catalog_init(&p->catalog, &p->arena, &p->err), MYR_OK);
    if (myr_doc_read_yaml(&p->arena, "parts", myr_str_from(own_parts), &parts, &p->err) < 0 ||
        myr_catalog_add(&p->catalog, parts, &p->err) < 0 ||
        myr_doc_read_yaml(&p->arena, "spec", myr_str_from(text), &doc, &p->err) < 0 ||
        myr_spec_read(&p->arena, &p->catalog, doc, &p->spec, &p->err) < 0) {
        fail_msg("%s, in\n%s", p->err.message, text);
    }
}

/* What is in a node; not again where it is as in the plan before. */
static void tell_inside(const struct myr_design *design, struct myr_buf *before,
                        struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
    myr_buf_puts(&now, "  inside");
    for (uint32_t i = 0; i < design->inside_count; i++) {
        const struct myr_inside *part = &design->insides[i];
        myr_buf_printf(&now, " %u.%u.%u.%u", part->kind, part->net, part->numa, part->index);
    }
    for (uint32_t i = 0; i < design->inside_link_count; i++) {
        const struct myr_inside_link *link = &design->inside_links[i];
        myr_buf_printf(&now, " %u-%u %u", link->a, link->b, link->gbps);
    }
    myr_buf_puts(&now, "\n");
    if (before->len != now.len || memcmp(before->data, now.data, now.len) != 0) {
        myr_buf_put(told, now.data, now.len);
        myr_buf_clear(before);
        myr_buf_put(before, now.data, now.len);
    }
}

static void tell_whole(const char *text, struct myr_buf *inside, struct myr_buf *told)
{
    struct planned p;
    myr_buf_printf(told, "== %s", text);
    begin(&p, text);
    if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
        myr_buf_printf(told, "  refused (%d): %s (%s)\n", p.err.code, p.err.message, p.err.hint);
    } else {
        myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
        (void)myr_plan_answer(&p.design, &p.answer);
        tell_answer(&p, told);
        tell_sets(&p.design, told);
        tell_inside(&p.design, inside, told);
        tell_bill(&p.design, told);
        tell_types(&p.design, told);
        tell_cables(&p.design, told);
        planned_tell_findings(&p, told);
    }
    planned_end(&p);
}

static void whole_plans_are_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf inside = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wholes); i++) {
        tell_whole(wholes[i], &inside, &told);
    }
    assert_kept("plan-wholes.txt", &told);
}

/* What a picture says: texts and tips, and how many shapes there are. */
static void tell_picture(const struct myr_design *design, struct myr_buf *told)
{
    static const char *const marks[] = {"<text", "<title"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
    uint32_t shapes = 0;
    myr_plan_svg(design, &svg);
    for (const char *at = svg.data; (at = strchr(at, '<')) != NULL; at++) {
        shapes += at[1] != '/';
        for (size_t i = 0; i < MYR_ARRAY_COUNT(marks); i++) {
            if (strncmp(at, marks[i], strlen(marks[i])) == 0) {
                const char *end = strstr(at, i ? "</title>" : "</text>");
                myr_buf_puts(told, "  ");
                for (; at < end; at++) {
                    myr_buf_putc(told, *at == '\n' ? '|' : *at);
                }
                myr_buf_puts(told, "\n");
            }
        }
    }
    myr_buf_printf(told, "  %u tags, %08x\n", shapes, (uint32_t)myr_hash_bytes(svg.data, svg.len));
}

/* What stands between the tags of a page, but for pictures and styles. */
static void tell_words(const struct myr_buf *page, struct myr_buf *told)
{
    static const char *const skipped[][2] = {
        {"<svg", "</svg>"}, {"<style", "</style>"}, {"<script", "</script>"}};
    bool open = false;
    for (const char *at = page->data; *at;) {
        const char *end = at;
        if (*at == '<') {
            end = strchr(at, '>');
            for (size_t i = 0; i < MYR_ARRAY_COUNT(skipped); i++) {
                if (strncmp(at, skipped[i][0], strlen(skipped[i][0])) == 0) {
                    end = strstr(at, skipped[i][1]) + strlen(skipped[i][1]) - 1;
                }
            }
            myr_buf_puts(told, open ? "\n" : "");
            open = false;
            const char *title = memmem(at, (size_t)(end - at), "title=\"", 7);
            if (title) { /* the path of the number that follows */
                myr_buf_printf(told, "  [%.*s]\n", (int)strcspn(title + 7, "\""), title + 7);
            }
        } else if (*at != '\n') {
            myr_buf_puts(told, open ? "" : "  ");
            myr_buf_putc(told, *at);
            open = true;
        }
        at = end + 1;
    }
}

static void pages_and_pictures_say_what_is_planned(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shown); i++) {
        struct planned p;
        struct myr_answer_form form = {.format = i % 2 ? MYR_FORMAT_WIDE : MYR_FORMAT_TABLE,
                                       .width = 120};
        begin(&p, shown[i]);
        myr_buf_printf(&told, "== %s", shown[i]);
        if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
            fail_msg("%s", p.err.message);
        }
        myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
        const struct myr_value *bom = myr_plan_answer(&p.design, &p.answer);
        myr_plan_page(&p.design, &p.answer, bom);
        assert_int_equal(myr_answer_write(&p.answer, &form, &told, &p.err), MYR_OK);
        tell_picture(&p.design, &told);
        if (strstr(shown[i], "prices") || strstr(shown[i], "groups")) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
            struct myr_plan_about about = {.date = "2026-11-17", .spec = "s.yaml"};
            myr_plan_report(&p.design, &about, &page);
            tell_words(&page, &told);
        }
        planned_end(&p);
    }
    assert_kept("plan-shown.txt", &told);
}

static void pictures_of_every_shape_are_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pictures); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        struct planned p;
        myr_buf_printf(&text, "servers: %zu\nserver: bare\n%s", 7 + i % 3, pictures[i]);
        begin(&p, text.data);
        myr_buf_printf(&told, "== %s", text.data);
        if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
            myr_buf_printf(&told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        } else {
            tell_picture(&p.design, &told);
        }
        planned_end(&p);
    }
    assert_kept("plan-pictures.txt", &told);
}

/* Its file has no figures, no halvings, and less beside the lines of the bill. */
static void a_design_of_an_older_program_is_shown_as_far_as_it_goes(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    struct planned p;
    struct myr_answer_form form = {.format = MYR_FORMAT_TABLE, .width = 100};
    struct myr_plan_about about = {.date = "2026-11-17"};
    begin(&p,
          "servers: 3\nprices: cn-2024-05\nnetworks: {compute: {switch: mqm9790-ns2f, topology: "
          "clos}, storage: }\nstorage: {capacity_tb: 300}\n");
    assert_int_equal(myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err), MYR_OK);
    p.design.figure_count = p.design.bisection_count = 0;
    p.design.bom_more = NULL;
    myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
    const struct myr_value *bom = myr_plan_answer(&p.design, &p.answer);
    planned_tell(&p.answer.root, "", &told);
    myr_plan_page(&p.design, &p.answer, bom);
    assert_int_equal(myr_answer_write(&p.answer, &form, &told, &p.err), MYR_OK);
    myr_plan_report(&p.design, &about, &page);
    tell_words(&page, &told);
    planned_end(&p);
    assert_kept("plan-older.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_plans_are_what_they_were),
        cmocka_unit_test(pages_and_pictures_say_what_is_planned),
        cmocka_unit_test(pictures_of_every_shape_are_what_they_were),
        cmocka_unit_test(a_design_of_an_older_program_is_shown_as_far_as_it_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
