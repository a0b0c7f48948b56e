/* The storage system of a spec. */
#include "fields.h"
#include "spec_parts.h"

/* In the order of their enums, as the classes of rates are. */
const char *const myr_tier_names[MYR_TIER_COUNT] = {"hybrid", "object"};

static const char *const rate_names[] = {"none", "good", "better", "best"};

/* All rows but those of nodes lie in this struct. */
#define S struct myr_spec_storage

/* "3P", "500T": the letter is the unit, so that a bare number says nothing. */
static int read_capacity(const struct myr_doc *node, S *storage, struct myr_err *err)
{
    static const struct field row = FIELD_ROW_SCALED("capacity", FIELD_TB, S, capacity_tb, 0, 1e9);
    /* "3" could be terabytes or petabytes: whoever leaves the letter out is asked. */
    double plain;
    if (storage->capacity_tb > 0) {
        return myr_doc_error(err, node, MYR_EINVAL, "give 'capacity' or 'capacity_tb', not both");
    }
    if (node->kind == MYR_DOC_SCALAR && myr_str_to_double(node->text, &plain)) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'capacity' is a bare number; write 3P or 500T (bytes, decimal)");
    }
    return field_read_scaled(&row, node, storage, err);
}

/* What needs more than a row; the petabytes and what one is are turned into terabytes. */
struct storage_nodes {
    const struct myr_doc *server, *erasure, *capacity, *checkpoint, *tiers;
    double capacity_pb;
    bool binary; /* a petabyte is 1,024 TB */
};

static const struct field node_fields[] = {
    FIELD_ROW_NODE("server", struct storage_nodes, server),
    FIELD_ROW_NODE("erasure", struct storage_nodes, erasure),
    FIELD_ROW_SCALED("capacity_pb", FIELD_PB, struct storage_nodes, capacity_pb, 0, 1e6),
    FIELD_ROW_BOOL("binary", struct storage_nodes, binary),
    FIELD_ROW_NODE("capacity", struct storage_nodes, capacity),
    FIELD_ROW_NODE("checkpoint", struct storage_nodes, checkpoint),
    FIELD_ROW_NODE("tiers", struct storage_nodes, tiers),
};

/* Wishes and what servers can do; the planner counts servers by whichever asks for most. */
static const struct field storage_fields[] = {
    FIELD_ROW_SCALED("capacity_tb", FIELD_TB, S, capacity_tb, 0, 1e9),
    FIELD_ROW_U32("copies", S, copies, 1, 10),
    FIELD_ROW_CHOICE("rate", S, rate_class, rate_names),
    FIELD_ROW_U32("servers", S, servers, 1, 100000),
    FIELD_ROW_DOUBLE("read_gbytes_per_s", S, read_gbytes, 0.001, 1e7),
    FIELD_ROW_DOUBLE("write_gbytes_per_s", S, write_gbytes, 0.001, 1e7),
    FIELD_ROW_SCALED("iops", FIELD_COUNT, S, iops, 1, 1e13),
    FIELD_ROW_SCALED("metadata_ops", FIELD_COUNT, S, metadata_ops, 1, 1e12),
    FIELD_ROW_SCALED("files", FIELD_COUNT, S, files, 1, 1e15),
    FIELD_ROW_DOUBLE("file_kb", S, file_kb, 0.001, 1e9),
    FIELD_ROW_DOUBLE("scan_hours", S, scan_hours, 0.01, 8760),
    FIELD_ROW_DOUBLE("availability_percent", S, availability_percent, 50, 100),
    FIELD_ROW_U32("placement_groups", S, placement_groups, 1, 1000000000),
    FIELD_ROW_DOUBLE("mtbf_hours", S, mtbf_hours, 1, 1e8),
    FIELD_ROW_DOUBLE("repair_hours", S, repair_hours, 0.01, 1e5),
};

/* No parity is allowed: it is plain striping. */
static int read_erasure(struct myr_arena *arena, const struct myr_doc *node, uint32_t *ret_data,
                        uint32_t *ret_parity, struct myr_err *err)
{
    struct code {
        uint32_t data, parity;
    } code = {};
    static const struct field fields[] = {
        FIELD_ROW_U32("data", struct code, data, 1, 255),
        FIELD_ROW_U32("parity", struct code, parity, 0, 255),
    };
    struct field_table table = {fields, MYR_ARRAY_COUNT(fields), &code};
    MYR_TRY(fields_read(arena, node, "erasure", &table, 1, err));
    if (!code.data) {
        return myr_doc_error(err, node, MYR_EINVAL, "'erasure' lacks 'data'");
    }
    *ret_data = code.data;
    *ret_parity = code.parity;
    return MYR_OK;
}

/* The model is looked up by the planner: this module knows no models. */
static int read_checkpoint(struct myr_arena *arena, const struct myr_doc *node, S *storage,
                           struct myr_err *err)
{
    static const struct field fields[] = {
        FIELD_ROW_TEXT("model", S, model),
        FIELD_ROW_DOUBLE("window_s", S, window_s, 0.001, 1e6),
        FIELD_ROW_U32("keep", S, checkpoints, 1, 10000),
    };
    struct field_table table = {fields, MYR_ARRAY_COUNT(fields), storage};
    MYR_TRY(fields_read(arena, node, "checkpoint", &table, 1, err));
    if (!storage->model || storage->window_s <= 0) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "the checkpoint lacks '%s', {model: NAME, window_s: SECONDS} is "
                             "expected",
                             storage->model ? "window_s" : "model");
    }
    storage->model_node = myr_doc_get(node, "model");
    return MYR_OK;
}

/* On a copy, which takes its place once all of it is right; at most one tier of a kind. */
static int read_tier(struct myr_arena *arena, const struct myr_catalog *catalog,
                     const struct myr_doc *node, S *storage, struct myr_err *err)
{
    struct tier_nodes {
        const struct myr_doc *server, *erasure, *kind;
        double capacity_pb;
    } nodes = {};
    static const struct field tier_nodes[] = {
        FIELD_ROW_NODE("server", struct tier_nodes, server),
        FIELD_ROW_NODE("erasure", struct tier_nodes, erasure),
        FIELD_ROW_NODE("kind", struct tier_nodes, kind),
        FIELD_ROW_SCALED("capacity_pb", FIELD_PB, struct tier_nodes, capacity_pb, 0, 1e6),
    };
    static const struct field tier_fields[] = {
        FIELD_ROW_SCALED("capacity_tb", FIELD_TB, struct myr_spec_tier, capacity_tb, 0, 1e9),
        FIELD_ROW_U32("copies", struct myr_spec_tier, copies, 1, 10),
    };
    struct myr_spec_tier tier = {.node = node, .server_part = MYR_PART_NONE};
    const struct field_table tables[] = {{tier_nodes, MYR_ARRAY_COUNT(tier_nodes), &nodes},
                                         {tier_fields, MYR_ARRAY_COUNT(tier_fields), &tier}};
    uint32_t kind;
    MYR_TRY(fields_read(arena, node, "a tier", tables, 2, err));
    if (!nodes.kind) {
        return myr_doc_error(err, node, MYR_EINVAL, "the tier lacks 'kind': hybrid or object");
    }
    MYR_TRY(myr_doc_choice(nodes.kind, "kind", myr_tier_names, MYR_TIER_COUNT, &kind, err));
    /* The node says that the tier is there. */
    if (storage->tiers[kind].node) {
        return myr_doc_error(err, nodes.kind, MYR_EINVAL,
                             "tier '%s' comes twice, one of a kind is expected",
                             myr_tier_names[kind]);
    }
    if (nodes.erasure) {
        MYR_TRY(read_erasure(arena, nodes.erasure, &tier.erasure_data, &tier.erasure_parity, err));
    }
    if (tier.copies && tier.erasure_data) {
        return myr_doc_error(err, node, MYR_EINVAL, "give 'copies' or 'erasure', not both");
    }
    /* Petabytes win over terabytes, as for the flash. */
    tier.capacity_tb = nodes.capacity_pb > 0 ? nodes.capacity_pb * 1000 : tier.capacity_tb;
    if (tier.capacity_tb <= 0) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "the tier lacks 'capacity_pb' or 'capacity_tb'");
    }
    MYR_TRY(spec_need_optional(catalog, nodes.server, "server", MYR_PART_STORAGE, &tier.server_part,
                               err));
    storage->tiers[kind] = tier;
    return MYR_OK;
}

/* What would contradict itself or have no meaning alone. */
static int check(const struct myr_doc *node, const S *storage, struct myr_err *err)
{
    if (storage->copies && storage->erasure_data) {
        return myr_doc_error(err, node, MYR_EINVAL, "give 'copies' or 'erasure', not both");
    }
    if (storage->scan_hours > 0 && storage->files <= 0) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'scan_hours' without 'files', how many there are is expected");
    }
    if (storage->file_kb > 0 && storage->files <= 0) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'file_kb' without 'files', how many there are is expected");
    }
    if (storage->availability_percent >= 100) {
        return myr_doc_error(err, myr_doc_get(node, "availability_percent"), MYR_ERANGE,
                             "'availability_percent' is 100, below 100 is expected: nothing never "
                             "fails");
    }
    return MYR_OK;
}

/* One way to say the capacity is enough: two are refused, but terabytes give way to petabytes. */
int spec_read_storage(struct myr_arena *arena, const struct myr_catalog *catalog,
                      const struct myr_doc *node, S *storage, struct myr_err *err)
{
    struct storage_nodes nodes = {};
    const struct field_table tables[] = {
        {node_fields, MYR_ARRAY_COUNT(node_fields), &nodes},
        {storage_fields, MYR_ARRAY_COUNT(storage_fields), storage},
    };
    storage->node = node;
    MYR_TRY(fields_read(arena, node, "storage", tables, 2, err));
    if (nodes.erasure) {
        MYR_TRY(read_erasure(arena, nodes.erasure, &storage->erasure_data, &storage->erasure_parity,
                             err));
    }
    MYR_TRY(check(node, storage, err));
    if (nodes.capacity && nodes.capacity_pb > 0) {
        return myr_doc_error(err, nodes.capacity, MYR_EINVAL,
                             "give 'capacity' or 'capacity_pb', not both");
    }
    if (nodes.capacity) {
        MYR_TRY(read_capacity(nodes.capacity, storage, err));
    }
    if (nodes.binary && nodes.capacity_pb <= 0) {
        return myr_doc_error(err, myr_doc_get(node, "binary"), MYR_EINVAL,
                             "'binary' without 'capacity_pb', whose petabytes it is about; other "
                             "capacities are decimal");
    }
    /* People say 3 PB and mean 3,000 or 3,072 TB: 'binary' says which. */
    if (nodes.capacity_pb > 0) {
        storage->capacity_tb = nodes.capacity_pb * (nodes.binary ? 1024 : 1000);
    }
    if (nodes.checkpoint) {
        MYR_TRY(read_checkpoint(arena, nodes.checkpoint, storage, err));
    }
    if (nodes.tiers) {
        MYR_TRY(myr_doc_expect(nodes.tiers, MYR_DOC_LIST, "tiers", err));
        for (uint32_t i = 0; i < nodes.tiers->count; i++) {
            MYR_TRY(read_tier(arena, catalog, nodes.tiers->items[i], storage, err));
        }
    }
    return spec_need_optional(catalog, nodes.server, "server", MYR_PART_STORAGE,
                              &storage->server_part, err);
}
