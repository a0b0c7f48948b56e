#include <stdlib.h>

#include "guids.h"
#include "myriad/site/cabling.h"
#include "myriad/site/tables.h"
#include "myriad/text.h"

/*
 * Tables as text, in the form in which OpenSM and dump_lfts print them:
 *
 *   Unicast lids [0x1-0x218] of switch Lid 1 guid 0x024d595300000062 (leaf-p0-g0-r0):
 *   0x0019 001 : (Channel Adapter portguid 0x024d595200000001: 'node-00000-nic0')
 *   0x0002 033 : (Switch portguid 0x024d595300000063: 'leaf-p0-g0-r1')
 *
 * LIDs are ours, switches first. OpenSM keeps its own and goes by the port GUID.
 */

/* 4 GiB: a dump has a line for every switch and destination. */
enum { BYTES_MAX_SHIFT = 32 };

/* Switches by index, then host ports by number: the destinations in order of LID. */
static uint32_t lid_of_column(const struct myr_tables *tables, uint32_t column)
{
    uint32_t switches = tables->graph->switch_count;
    return column < tables->host_count ? 1 + switches + column : 1 + column - tables->host_count;
}

/* Some port of the destination: its own for a host, the first one for a switch. */
static uint32_t port_of_column(const struct myr_tables *tables, uint32_t column)
{
    const struct myr_graph *graph = tables->graph;
    return column < tables->host_count
               ? tables->hosts[column]
               : graph->design->first_port[graph->first_switch + column - tables->host_count];
}

/* As bound, else as made up for the design. */
static uint64_t guid_of(const struct myr_tables *tables, const struct myr_binding *binding,
                        uint32_t column)
{
    return guids_port(tables->graph->design, binding, port_of_column(tables, column));
}

/* NICs bear the name of their host in front. */
static void put_name(const struct myr_tables *tables, uint32_t column, struct myr_buf *buf)
{
    const struct myr_design *design = tables->graph->design;
    uint32_t port = port_of_column(tables, column);
    myr_site_name(design, design->port_device[port], buf);
    if (column < tables->host_count) {
        myr_buf_putc(buf, '-');
        myr_design_port_name(design, port, buf);
    }
}

/* What follows the egress port on a destination's line: the same at every switch, made once. */
static void put_tails(const struct myr_tables *tables, const struct myr_binding *binding,
                      struct myr_buf *tails, uint32_t *start)
{
    for (uint32_t column = 0; column < tables->columns; column++) {
        /* Where each line's tail begins; one more at the end. */
        start[column] = (uint32_t)tails->len;
        myr_buf_puts(tails, column < tables->host_count ? " : (Channel Adapter portguid 0x"
                                                        : " : (Switch portguid 0x");
        myr_buf_printf(tails, "%016llx: '", (unsigned long long)guid_of(tables, binding, column));
        put_name(tables, column, tails);
        myr_buf_put_lit(tails, "')\n");
    }
    start[tables->columns] = (uint32_t)tails->len;
}

/* By hand: there are as many lines as switches times destinations. */
static void put_entry(struct myr_buf *buf, uint32_t lid, uint32_t port, struct myr_str tail)
{
    static const char hex[] = "0123456789abcdef";
    char text[7] = {'0',           'x', hex[lid >> 12 & 15], hex[lid >> 8 & 15], hex[lid >> 4 & 15],
                    hex[lid & 15], ' '};
    myr_buf_put(buf, text, sizeof(text));
    myr_buf_put_u64_pad(buf, port, 3);
    myr_buf_put(buf, tail.data, tail.len);
}

/* Switch by switch: the buffer is drained after each, for dumps are large. */
int myr_tables_write(const struct myr_tables *tables, const struct myr_binding *binding,
                     const char *path, struct myr_err *err)
{
    struct myr_outfile file;
    MYR_TRY(myr_outfile_open(&file, path, err));
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf tails = {};
    MYR_CLEANUP(myr_free_at)
    uint32_t *start = myr_xrealloc(NULL, (size_t)tables->columns + 1, sizeof(uint32_t));
    put_tails(tables, binding, &tails, start);
    for (uint32_t s = 0; s < tables->graph->switch_count; s++) {
        uint32_t self = tables->host_count + s;
        myr_buf_printf(&buf, "Unicast lids [0x1-0x%x] of switch Lid %u guid 0x%016llx (",
                       tables->columns, lid_of_column(tables, self),
                       (unsigned long long)guid_of(tables, binding, self));
        put_name(tables, self, &buf);
        myr_buf_put_lit(&buf, "):\n");
        for (uint32_t column = 0; column < tables->columns; column++) {
            uint32_t port = tables->egress[(size_t)s * tables->columns + column];
            struct myr_str tail = {tails.data + start[column], start[column + 1] - start[column]};
            if (port || column == self) { /* a switch reaches itself by port 0 */
                put_entry(&buf, lid_of_column(tables, column), port, tail);
            }
        }
        myr_outfile_drain(&file, &buf);
    }
    myr_outfile_write(&file, buf.data, buf.len);
    return myr_outfile_commit(&file, err);
}

/* GUIDs of all destinations, to their columns. */
static void index_guids(const struct myr_tables *tables, const struct myr_binding *binding,
                        struct myr_u64map *ret)
{
    for (uint32_t column = 0; column < tables->columns; column++) {
        myr_u64map_add(ret, guid_of(tables, binding, column), column);
    }
}

static bool hex_value(char c, uint32_t *ret)
{
    if (c >= '0' && c <= '9') {
        *ret = (uint32_t)(c - '0');
    } else if (c >= 'a' && c <= 'f') {
        *ret = (uint32_t)(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
        *ret = (uint32_t)(c - 'A' + 10);
    } else {
        return false;
    }
    return true;
}

/* The hexadecimal number after 'word' on the line. */
static bool hex_after(struct myr_str line, const char *word, uint64_t *ret)
{
    const char *at = memmem(line.data, line.len, word, strlen(word));
    if (!at) {
        return false;
    }
    size_t i = (size_t)(at - line.data) + strlen(word), digits = 0;
    uint32_t digit;
    for (*ret = 0; i < line.len && hex_value(line.data[i], &digit) && digits < 16; i++) {
        *ret = *ret << 4 | digit;
        digits++;
    }
    return digits > 0;
}

/* "0x0019 001 : ...": the second word. */
static bool egress_of(struct myr_str line, uint64_t *ret)
{
    const char *blank = memchr(line.data, ' ', line.len);
    if (!blank) {
        return false;
    }
    size_t at = (size_t)(blank - line.data) + 1, end = at;
    while (end < line.len && line.data[end] >= '0' && line.data[end] <= '9') {
        end++;
    }
    return myr_str_to_u64((struct myr_str){line.data + at, end - at}, ret) && *ret <= UINT8_MAX;
}

/*
 * 'unknown' counts switches and destinations that the design does not have; 'any': some entry was
 * taken.
 */
struct reader {
    struct myr_tables *tables;
    struct myr_u64map guids; /* of all destinations, to their columns */
    const char *path;
    uint32_t line;      /* number, from 1 */
    uint32_t at_switch; /* MYR_NONE: one that the design does not have */
    uint32_t unknown;
    bool any;
};

/* A head sets the switch that the following lines are about. */
static int read_line(struct reader *reader, struct myr_str line, struct myr_err *err)
{
    static const struct myr_str head = {"Unicast lids", sizeof("Unicast lids") - 1};
    struct myr_tables *tables = reader->tables;
    uint64_t guid, port;
    if (line.len > head.len && memcmp(line.data, head.data, head.len) == 0) {
        if (!hex_after(line, " guid 0x", &guid)) {
            return myr_err_set(err, MYR_EINVAL, "%s:%u: a switch without a GUID", reader->path,
                               reader->line);
        }
        /* A host's GUID is no switch. */
        const uint32_t *column = myr_u64map_find(&reader->guids, guid);
        bool known = column && *column >= tables->host_count;
        reader->at_switch = known ? *column - tables->host_count : MYR_NONE;
        reader->unknown += !known;
        return MYR_OK;
    }
    if (line.len < 2 || memcmp(line.data, "0x", 2) != 0 || reader->at_switch == MYR_NONE) {
        return MYR_OK; /* remarks, and lines of switches that are not ours */
    }
    if (!egress_of(line, &port)) {
        return myr_err_set(err, MYR_EINVAL, "%s:%u: expected a LID and an egress port",
                           reader->path, reader->line);
    }
    if (!hex_after(line, "portguid 0x", &guid)) {
        return MYR_OK; /* a LID that nobody has */
    }
    const uint32_t *column = myr_u64map_find(&reader->guids, guid);
    if (column) {
        tables->egress[(size_t)reader->at_switch * tables->columns + *column] = (uint8_t)port;
        reader->any = true;
    }
    reader->unknown += !column;
    return MYR_OK;
}

static const char tables_expected[] = "a dump of forwarding tables (dump_lfts, opensm -U)";

static void reader_done(struct reader *reader)
{
    myr_u64map_done(&reader->guids);
}

/* Entries that the text does not have stay as they were. */
int myr_tables_read_text(struct myr_tables *tables, const struct myr_binding *binding,
                         const char *file, struct myr_str text, uint32_t *ret_unknown,
                         struct myr_err *err)
{
    MYR_CLEANUP(reader_done)
    struct reader reader = {.tables = tables, .path = file, .at_switch = MYR_NONE};
    MYR_TRY(myr_kind_check(file, text, MYR_KIND_BIT(FORWARDING), tables_expected, err));
    index_guids(tables, binding, &reader.guids);
    int rc = MYR_OK;
    for (size_t at = 0; rc == MYR_OK && at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
        reader.line++;
        rc = read_line(&reader, (struct myr_str){text.data + at, len}, err);
        at += len + 1;
    }
    /* A dump of another fabric is well formed, and of no use. */
    if (rc == MYR_OK && !reader.any) {
        rc =
            myr_err_set(err, MYR_EINVAL, "%s: no forwarding table of this design's switches", file);
        myr_err_hint(err, "dump_lfts > FILE, or the file of opensm -U");
    }
    *ret_unknown = reader.unknown; /* also on failure: how far it came is worth knowing */
    return rc;
}

int myr_tables_read(struct myr_tables *tables, const struct myr_binding *binding, const char *path,
                    uint32_t *ret_unknown, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_kind_read(path, (size_t)1 << BYTES_MAX_SHIFT, MYR_KIND_BIT(FORWARDING),
                          tables_expected, &text, err));
    return myr_tables_read_text(tables, binding, myr_file_name(path),
                                (struct myr_str){text.data, text.len}, ret_unknown, err);
}
