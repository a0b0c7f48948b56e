/*
 * message: the field tables of all messages, which say for each field its number and kind on the
 * wire and its place in the struct. A number is what the two sides know a field by.
 */
#include "myriad/wire/message.h"

/* The number stands on the wire, the name only in what people read. */
#define FIELD(id, what, holder, field)                                                           \
    {                                                                                            \
        .number = (id), .kind = (what), .offset = offsetof(struct holder, field), .name = #field \
    }

/* Numbers are never given to another field: an older end would read it as what it was. */
static const struct myr_wire_field hello_fields[] = {
    FIELD(1, MYR_WIRE_TEXT, myr_wire_hello, name),
    FIELD(2, MYR_WIRE_U32, myr_wire_hello, version_min),
    FIELD(3, MYR_WIRE_U64, myr_wire_hello, boot),
};

static const struct myr_wire_field inventory_fields[] = {
    FIELD(1, MYR_WIRE_TEXT, myr_wire_inventory, host),
    FIELD(2, MYR_WIRE_TEXT, myr_wire_inventory, gpu_kind),
    FIELD(3, MYR_WIRE_TEXT, myr_wire_inventory, serial),
    FIELD(4, MYR_WIRE_U32, myr_wire_inventory, gpus),
    FIELD(5, MYR_WIRE_U32, myr_wire_inventory, cpus),
    FIELD(6, MYR_WIRE_U64, myr_wire_inventory, memory_bytes),
    FIELD(7, MYR_WIRE_TEXT, myr_wire_inventory, details),
};

static const struct myr_wire_field beat_fields[] = {
    FIELD(1, MYR_WIRE_I64, myr_wire_beat, time_ns),
};

static const struct myr_wire_field silent_fields[] = {
    FIELD(1, MYR_WIRE_I64, myr_wire_silent, last_ns),
    FIELD(2, MYR_WIRE_U32, myr_wire_silent, channel),
};

static const struct myr_wire_field step_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_step, job),
    FIELD(2, MYR_WIRE_U64, myr_wire_step, step),
    FIELD(3, MYR_WIRE_I64, myr_wire_step, duration_ns),
    FIELD(4, MYR_WIRE_U64, myr_wire_step, saved_step),
};

static const struct myr_wire_field exit_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_exit, job),   FIELD(2, MYR_WIRE_U32, myr_wire_exit, rank),
    FIELD(3, MYR_WIRE_U32, myr_wire_exit, code),  FIELD(4, MYR_WIRE_U32, myr_wire_exit, signal),
    FIELD(5, MYR_WIRE_TEXT, myr_wire_exit, line),
};

static const struct myr_wire_field symptom_fields[] = {
    FIELD(1, MYR_WIRE_TEXT, myr_wire_symptom, id),
    FIELD(2, MYR_WIRE_U32, myr_wire_symptom, gpu),
    FIELD(3, MYR_WIRE_U32, myr_wire_symptom, port),
    FIELD(4, MYR_WIRE_U64, myr_wire_symptom, count),
    FIELD(5, MYR_WIRE_TEXT, myr_wire_symptom, text),
};

static const struct myr_wire_field result_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_result, job),
    FIELD(2, MYR_WIRE_U32, myr_wire_result, code),
    FIELD(3, MYR_WIRE_TEXT, myr_wire_result, text),
};

static const struct myr_wire_field start_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_start, job),
    FIELD(2, MYR_WIRE_U32, myr_wire_start, first_rank),
    FIELD(3, MYR_WIRE_U32, myr_wire_start, world),
    FIELD(4, MYR_WIRE_U64, myr_wire_start, gpus),
    FIELD(5, MYR_WIRE_U32_LIST, myr_wire_start, nodes),
    FIELD(6, MYR_WIRE_TEXT, myr_wire_start, spec),
    FIELD(7, MYR_WIRE_TEXT, myr_wire_start, master),
    FIELD(8, MYR_WIRE_TEXT, myr_wire_start, user),
    FIELD(9, MYR_WIRE_U32, myr_wire_start, lease_s),
    FIELD(10, MYR_WIRE_U32, myr_wire_start, node_rank),
    FIELD(11, MYR_WIRE_U32, myr_wire_start, node_count),
    FIELD(12, MYR_WIRE_U32, myr_wire_start, array_index),
};

static const struct myr_wire_field stop_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_stop, job),
    FIELD(2, MYR_WIRE_U32, myr_wire_stop, grace_s),
};

static const struct myr_wire_field test_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_test, id),
    FIELD(2, MYR_WIRE_TEXT, myr_wire_test, name),
};

static const struct myr_wire_field welcome_fields[] = {
    FIELD(1, MYR_WIRE_U32, myr_wire_welcome, node),
    FIELD(2, MYR_WIRE_U32, myr_wire_welcome, boot),
    FIELD(3, MYR_WIRE_U32, myr_wire_welcome, beat_ms),
    FIELD(4, MYR_WIRE_U32, myr_wire_welcome, pretend),
};

static const struct myr_wire_field refused_fields[] = {
    FIELD(1, MYR_WIRE_U32, myr_wire_refused, code),
    FIELD(2, MYR_WIRE_TEXT, myr_wire_refused, text),
};

static const struct myr_wire_field ack_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_ack, sequence),
};

static const struct myr_wire_field fetch_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_fetch, job),
    FIELD(2, MYR_WIRE_U64, myr_wire_fetch, offset),
    FIELD(3, MYR_WIRE_U32, myr_wire_fetch, rank),
    FIELD(4, MYR_WIRE_U32, myr_wire_fetch, bytes),
};

static const struct myr_wire_field output_fields[] = {
    FIELD(1, MYR_WIRE_U64, myr_wire_output, job),   FIELD(2, MYR_WIRE_U64, myr_wire_output, offset),
    FIELD(3, MYR_WIRE_U64, myr_wire_output, size),  FIELD(4, MYR_WIRE_U32, myr_wire_output, rank),
    FIELD(5, MYR_WIRE_U32, myr_wire_output, ended), FIELD(6, MYR_WIRE_TEXT, myr_wire_output, data),
};

static const struct myr_wire_field enrol_fields[] = {
    FIELD(1, MYR_WIRE_TEXT, myr_wire_enrol, token),
    FIELD(2, MYR_WIRE_TEXT, myr_wire_enrol, csr),
};

static const struct myr_wire_field cert_fields[] = {
    FIELD(1, MYR_WIRE_TEXT, myr_wire_cert, certificate),
    FIELD(2, MYR_WIRE_TEXT, myr_wire_cert, ca),
};

static const struct myr_wire_field attach_fields[] = {
    FIELD(1, MYR_WIRE_U32, myr_wire_attach, channel),
    FIELD(2, MYR_WIRE_TEXT, myr_wire_attach, name),
    FIELD(3, MYR_WIRE_TEXT, myr_wire_attach, serial),
    FIELD(4, MYR_WIRE_TEXT, myr_wire_attach, address),
};

static const struct myr_wire_field detach_fields[] = {
    FIELD(1, MYR_WIRE_U32, myr_wire_detach, channel),
};

/* Several types share the fields of one struct: 'id' tells them apart, not the table of fields. */
#define TABLE(word, id, rows, holder) \
    [id] = {word, id, sizeof(struct holder), MYR_ARRAY_COUNT(rows), rows}

/* Indexed by type. A type that is missing has no name, which is how myr_wire_table_of() knows. */
static const struct myr_wire_table tables[MYR_WIRE_TYPE_COUNT] = {
    TABLE("hello", MYR_WIRE_HELLO, hello_fields, myr_wire_hello),
    TABLE("inventory", MYR_WIRE_INVENTORY, inventory_fields, myr_wire_inventory),
    TABLE("beat", MYR_WIRE_BEAT, beat_fields, myr_wire_beat),
    TABLE("silent", MYR_WIRE_SILENT, silent_fields, myr_wire_silent),
    TABLE("back", MYR_WIRE_BACK, silent_fields, myr_wire_silent),
    TABLE("step", MYR_WIRE_STEP, step_fields, myr_wire_step),
    TABLE("exit", MYR_WIRE_EXIT, exit_fields, myr_wire_exit),
    TABLE("symptom", MYR_WIRE_SYMPTOM, symptom_fields, myr_wire_symptom),
    TABLE("started", MYR_WIRE_STARTED, result_fields, myr_wire_result),
    TABLE("stopped", MYR_WIRE_STOPPED, result_fields, myr_wire_result),
    TABLE("tested", MYR_WIRE_TESTED, result_fields, myr_wire_result),
    TABLE("start", MYR_WIRE_START, start_fields, myr_wire_start),
    TABLE("stop", MYR_WIRE_STOP, stop_fields, myr_wire_stop),
    TABLE("test", MYR_WIRE_TEST, test_fields, myr_wire_test),
    TABLE("lease", MYR_WIRE_LEASE, beat_fields, myr_wire_beat),
    TABLE("welcome", MYR_WIRE_WELCOME, welcome_fields, myr_wire_welcome),
    TABLE("refused", MYR_WIRE_REFUSED, refused_fields, myr_wire_refused),
    TABLE("ack", MYR_WIRE_ACK, ack_fields, myr_wire_ack),
    TABLE("fetch", MYR_WIRE_FETCH, fetch_fields, myr_wire_fetch),
    TABLE("output", MYR_WIRE_OUTPUT, output_fields, myr_wire_output),
    TABLE("enrol", MYR_WIRE_ENROL, enrol_fields, myr_wire_enrol),
    TABLE("cert", MYR_WIRE_CERT, cert_fields, myr_wire_cert),
    TABLE("attach", MYR_WIRE_ATTACH, attach_fields, myr_wire_attach),
    TABLE("detach", MYR_WIRE_DETACH, detach_fields, myr_wire_detach),
};

/* NULL for a type that nobody here knows; a newer end may send one. */
const struct myr_wire_table *myr_wire_table_of(uint8_t type)
{
    MYR_ASSERT(type >= MYR_WIRE_TYPE_COUNT || !tables[type].name || tables[type].type == type);
    return type < MYR_WIRE_TYPE_COUNT && tables[type].name ? &tables[type] : NULL;
}

const char *myr_wire_type_name(uint8_t type)
{
    const struct myr_wire_table *table = myr_wire_table_of(type);
    MYR_ASSERT(!table || (table->name && table->count <= MYR_WIRE_FIELDS_MAX));
    return table ? table->name : type == MYR_WIRE_SCHEMA ? "schema" : "unknown";
}
