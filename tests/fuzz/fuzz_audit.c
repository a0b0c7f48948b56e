/* Audits: any bytes as list, claims or layout give one clear line, or findings that say something.
 */
#include "fuzz.h"
#include "myriad/plan.h"
#include "myriad/plan/audit.h"

static const char spec_text[] =
    "servers: 4\nserver: h100-8gpu\nnetworks: {compute: , storage: , service: }\n"
    "storage: {capacity_tb: 100, rate: good}\nroom: {rows: 2, racks_per_row: 9, rack_kw: 15}\n";
static const char good_bom[] = "part,quantity\nmqm9790-ns2f,2\n";
static const char file[] = "fuzz.file";

static struct {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
} shared; /* read once: it takes longer than a thousand audits */

static void prepare(void)
{
    const struct myr_doc *doc;
    struct myr_err err;
    if (shared.catalog.arena) {
        return;
    }
    myr_arena_init(&shared.arena);
    MYR_ASSERT(myr_catalog_init(&shared.catalog, &shared.arena, &err) == MYR_OK);
    MYR_ASSERT(myr_doc_read_yaml(&shared.arena, "spec.yaml", MYR_STR(spec_text), &doc, &err) ==
               MYR_OK);
    MYR_ASSERT(myr_spec_read(&shared.arena, &shared.catalog, doc, &shared.spec, &err) == MYR_OK);
}

static void check(const struct myr_audit *audit)
{
    for (size_t i = 0; i < audit->findings.count; i++) {
        const struct myr_audit_finding *finding = &audit->findings.items[i];
        fuzz_note("%s %s %s", finding->rule, finding->where, finding->message);
        MYR_ASSERT(finding->rule[0] && finding->where[0] && finding->message[0]);
        MYR_ASSERT(finding->expected_text || finding->expected != finding->found);
    }
    for (size_t i = 0; i < audit->doubts.count; i++) {
        fuzz_note("%s %s", audit->doubts.items[i].where, audit->doubts.items[i].reason);
        MYR_ASSERT(audit->doubts.items[i].where[0] && audit->doubts.items[i].reason[0]);
    }
}

/* The first byte says what the rest is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    struct myr_audit audit = {};
    struct myr_err err;
    if (size == 0) {
        return 0;
    }
    prepare();
    myr_arena_init(&arena);
    struct myr_str text = {(const char *)data + 1, size - 1};
    struct myr_audit_document document = {.bom = MYR_STR(good_bom), .bom_file = "bom.csv"};
    int rc = MYR_OK;
    if (data[0] == 'c') {
        rc = myr_doc_read_yaml(&arena, file, text, &document.claims, &err);
    } else if (data[0] == 'l') {
        document.layout = text;
        document.layout_file = file;
    } else {
        document.bom = text;
        document.bom_file = file;
    }
    rc =
        rc < 0 ? rc : myr_audit_run(&arena, &shared.catalog, &shared.spec, &document, &audit, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        check(&audit);
        myr_audit_done(&audit);
    }
    myr_arena_done(&arena);
    return 0;
}
