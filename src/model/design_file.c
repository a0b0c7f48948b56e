/*
 * design_file: a design as a file of sections, one an array, which is mapped and used in place. A
 * header and a table with checksums come first; sections are aligned, so that arrays need no copy.
 * Sections that a program does not know are skipped, those that an older one did not write are
 * optional: both ways a file stays readable.
 */
#include "myriad/model/design_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "myriad/text/kind.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "design files are little-endian");

/* Alignment suits every item; a table longer than SECTIONS_MAX is no table. */
enum { SECTION_ALIGN = 64, SECTIONS_MAX = 256, NAME_TAG_BYTES = 8 };

/* What comes through a pipe is held in memory: there must be an end. */
#define COPY_BYTES_MAX ((size_t)4 << 30)

static const char design_expected[] = "a design.myr";

static const char magic[8] = "MYRIAD\r\n"; /* the line end shows a transfer in text mode */

/* Integers as they lie in memory, little-endian; the two sizes are asserted below. */
struct file_header {
    char magic[8];
    uint32_t version;
    uint32_t section_count;
    uint64_t file_bytes; /* the whole file: one that is cut off is known by it */
    uint32_t table_crc;  /* of all entries of sections */
    uint32_t header_crc; /* of everything above */
};

/* One section: tag without a 0 where it has eight letters, offset from the start of the file. */
struct section_entry {
    char tag[NAME_TAG_BYTES];
    uint32_t version;    /* of the section */
    uint32_t item_bytes; /* must be this program's */
    uint64_t offset;
    uint64_t bytes;
    uint32_t crc; /* of its bytes; 0 where there are none */
    uint32_t pad; /* 0: the checksum covers it */
};

_Static_assert(sizeof(struct file_header) == 32, "no hidden padding");
_Static_assert(sizeof(struct section_entry) == 40, "no hidden padding");
_Static_assert(sizeof(struct myr_place) == 16, "no hidden padding");
_Static_assert(sizeof(struct myr_cabletype) == 28, "no hidden padding");
_Static_assert(sizeof(struct myr_bom_row) == 48, "no hidden padding");
_Static_assert(sizeof(struct myr_finding) == 20, "no hidden padding");
_Static_assert(sizeof(struct myr_card) == 20, "no hidden padding");
_Static_assert(sizeof(struct myr_bisection) == 16, "no hidden padding");
_Static_assert(sizeof(struct myr_room) == 104, "no hidden padding");
_Static_assert(sizeof(struct myr_figure) == 32, "no hidden padding");
_Static_assert(sizeof(struct myr_bom_more) == 8, "no hidden padding");
_Static_assert(sizeof(struct myr_bom_price) == 32, "no hidden padding");

/* One row a section: where the pointer and the count lie in struct myr_design. */
struct section {
    const char *tag;
    size_t pointer, count; /* offsets */
    uint32_t item_bytes;
    uint32_t extra;   /* items beyond the count: 1 for the arrays that end ranges */
    uint32_t fixed;   /* the count, where it is no field */
    bool count_comes; /* this section sets the count; the others must agree */
    bool optional;    /* left out where the pointer is NULL, as in files of older programs */
};

/* An array with as many items as a count has; of several with one count the first sets it. */
#define COUNTED(tag, pointer, count, sets)                                             \
    {                                                                                  \
        tag, offsetof(struct myr_design, pointer), offsetof(struct myr_design, count), \
            sizeof(*((struct myr_design *)0)->pointer), 0, 0, sets, false              \
    }
#define COUNTED_OPTIONAL(tag, pointer, count)                                          \
    {                                                                                  \
        tag, offsetof(struct myr_design, pointer), offsetof(struct myr_design, count), \
            sizeof(*((struct myr_design *)0)->pointer), 0, 0, true, true               \
    }
/* An array that ends ranges: one item more than the count. */
#define BOUNDED(tag, pointer, count)                                                   \
    {                                                                                  \
        tag, offsetof(struct myr_design, pointer), offsetof(struct myr_design, count), \
            sizeof(*((struct myr_design *)0)->pointer), 1, 0, false, false             \
    }
#define OPTIONAL(tag, pointer, count)                                                  \
    {                                                                                  \
        tag, offsetof(struct myr_design, pointer), offsetof(struct myr_design, count), \
            sizeof(*((struct myr_design *)0)->pointer), 0, 0, false, true              \
    }
/* As many items as the program says, not the file. */
#define FIXED(tag, pointer, number)                                                               \
    {                                                                                             \
        tag, offsetof(struct myr_design, pointer), 0, sizeof(*((struct myr_design *)0)->pointer), \
            0, number, false, false                                                               \
    }

/* In the order of the file. New ones come at the end and are optional, for files without them. */
static const struct section sections[] = {
    FIXED("HEAD", head, 1),
    FIXED("NETWORKS", networks, MYR_NET_COUNT),
    COUNTED("STRINGS", strings, string_bytes, true),
    COUNTED("PLACES", place, device_count, true),
    COUNTED("DEVTYPE", device_type, device_count, false),
    BOUNDED("DEVPORT", first_port, device_count),
    COUNTED("DEVRACK", device_rack, device_count, false),
    COUNTED("PORTDEV", port_device, port_count, true),
    COUNTED("PORTLINK", port_link, port_count, false),
    COUNTED("LINKA", link_a, link_count, true),
    COUNTED("LINKB", link_b, link_count, false),
    COUNTED("LINKCABL", link_cable, link_count, false),
    COUNTED("CABLTYPE", cable_type, cable_count, true),
    BOUNDED("CABLLINK", first_link, cable_count),
    COUNTED("DEVTYPES", devtypes, devtype_count, true),
    COUNTED("CABTYPES", cabletypes, cabletype_count, true),
    COUNTED("INSIDES", insides, inside_count, true),
    COUNTED("INLINKS", inside_links, inside_link_count, true),
    COUNTED("BOM", bom, bom_count, true),
    COUNTED("FINDINGS", findings, finding_count, true),
    COUNTED("RACKS", racks, rack_count, true),
    COUNTED("POWER", power, power_count, true),
    COUNTED("COOLING", cooling, cooling_count, true),
    COUNTED("TRAYS", trays, tray_count, true),
    COUNTED("DOMAINS", domains, domain_count, true),
    COUNTED("MEMBERS", domain_devices, member_count, true),
    /* Only grown designs have these (docs/decisions, 0010). */
    OPTIONAL("DEVID", device_id, device_count),
    OPTIONAL("PORTID", port_id, port_count),
    OPTIONAL("LINKID", link_id, link_count),
    OPTIONAL("CABLEID", cable_id, cable_count),
    OPTIONAL("NAMES", named, device_count),
    OPTIONAL("NAMEORD", by_name, device_count),
    COUNTED_OPTIONAL("CARDS", cards, card_count),
    COUNTED_OPTIONAL("BISECT", bisections, bisection_count),
    /* From here to the lengths of cables: only designs with a room. */
    COUNTED_OPTIONAL("ROOM", room, room_count),
    OPTIONAL("RACKMORE", rack_more, rack_count),
    COUNTED_OPTIONAL("RACKITEM", rack_items, rack_item_count),
    OPTIONAL("TYPELOAD", type_loads, devtype_count),
    OPTIONAL("POWRMORE", power_more, power_count),
    OPTIONAL("COOLMORE", cooling_more, cooling_count),
    OPTIONAL("DEVUNIT", device_unit, device_count),
    OPTIONAL("CABLEMM", cable_mm, cable_count),
    COUNTED_OPTIONAL("GROUPS", groups, group_count),
    COUNTED_OPTIONAL("FIGURES", figures, figure_count),
    OPTIONAL("BOMMORE", bom_more, bom_count),
    OPTIONAL("BOMPRICE", bom_price, bom_count),
};

enum { SECTION_COUNT = MYR_ARRAY_COUNT(sections) };

/*
 * The fields that a row of the table speaks of. Writing takes the same way, with const cast away.
 */
static void **pointer_of(struct myr_design *design, const struct section *section)
{
    return (void **)((char *)design + section->pointer);
}

static uint32_t *count_of(struct myr_design *design, const struct section *section)
{
    return (uint32_t *)((char *)design + section->count);
}

/* As many items as the section holds, with the one that ends ranges. */
static uint64_t item_count(const struct myr_design *design, const struct section *section)
{
    /* The rows with a fixed number have no field of a count. */
    if (section->fixed) {
        return section->fixed;
    }
    return (uint64_t)*count_of((struct myr_design *)design, section) + section->extra;
}

static uint32_t crc_of(const void *data, size_t bytes)
{
    return (uint32_t)crc32_z(0, data, bytes);
}

/* Where the next section begins. */
static uint64_t aligned(uint64_t offset)
{
    return (offset + SECTION_ALIGN - 1) / SECTION_ALIGN * SECTION_ALIGN;
}

/* What is in a file: all sections but those that only some designs have. */
static uint32_t sections_in(const struct myr_design *design, const struct section **ret)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SECTION_COUNT; i++) {
        if (!sections[i].optional || *pointer_of((struct myr_design *)design, &sections[i])) {
            ret[count++] = &sections[i];
        }
    }
    return count;
}

/*
 * Offsets and checksums first, for they stand in front; then all of it in one go, gaps as zeros.
 * The same design gives the same bytes.
 */
void myr_design_put(const struct myr_design *design, struct myr_outfile *file)
{
    struct section_entry table[SECTION_COUNT] = {};
    const struct section *in[SECTION_COUNT];
    uint32_t count = sections_in(design, in);
    size_t table_bytes = count * sizeof(*table);
    uint64_t offset = aligned(sizeof(struct file_header) + table_bytes);
    for (uint32_t i = 0; i < count; i++) {
        const void *data = *pointer_of((struct myr_design *)design, in[i]);
        uint64_t bytes = item_count(design, in[i]) * in[i]->item_bytes;
        memcpy(table[i].tag, in[i]->tag, strlen(in[i]->tag));
        table[i].version = MYR_DESIGN_VERSION;
        table[i].item_bytes = in[i]->item_bytes;
        table[i].offset = offset;
        table[i].bytes = bytes;
        table[i].crc = bytes ? crc_of(data, bytes) : 0;
        offset = aligned(offset + bytes);
    }
    /* The checksum of the header is the last field, over all before it. */
    struct file_header header = {.version = MYR_DESIGN_VERSION,
                                 .section_count = count,
                                 .file_bytes = offset,
                                 .table_crc = crc_of(table, table_bytes)};
    memcpy(header.magic, magic, sizeof(magic));
    header.header_crc = crc_of(&header, offsetof(struct file_header, header_crc));

    static const char zeros[SECTION_ALIGN];
    myr_outfile_write(file, &header, sizeof(header));
    myr_outfile_write(file, table, table_bytes);
    uint64_t at = sizeof(header) + table_bytes;
    for (uint32_t i = 0; i < count; i++) {
        myr_outfile_write(file, zeros, table[i].offset - at);
        myr_outfile_write(file, *pointer_of((struct myr_design *)design, in[i]), table[i].bytes);
        at = table[i].offset + table[i].bytes;
    }
    myr_outfile_write(file, zeros, header.file_bytes - at);
}

int myr_design_write(const struct myr_design *design, const char *path, struct myr_err *err)
{
    struct myr_outfile file;
    MYR_TRY(myr_outfile_open(&file, path, err));
    myr_design_put(design, &file);
    return myr_outfile_commit(&file, err);
}

/* Whatever is wrong, the remedy is the same. */
static int damaged(struct myr_err *err, const char *name, const char *what)
{
    int rc = myr_err_set(err, MYR_ECORRUPT, "%s:1:1: not a usable design file: %s", name, what);
    myr_err_hint(err, "write it again with: myriad plan SPEC --out DIR");
    return rc;
}

/* The header may be shorter than a header: nothing of it is read before the length is known. */
static int check_header(const struct file_header *header, size_t bytes, const char *name,
                        struct myr_err *err)
{
    /* Something that is a spec or a CSV is called by its name rather than damaged. */
    if (bytes < sizeof(*header) || memcmp(header->magic, magic, sizeof(magic)) != 0) {
        struct myr_str text = {(const char *)header, bytes};
        MYR_TRY(myr_kind_check(name, text, MYR_KIND_BIT(DESIGN) | MYR_KIND_BIT(BINARY),
                               design_expected, err));
        return damaged(err, name, "it does not begin like one");
    }
    /* Before the checksum: another version may have another header. */
    if (header->version != MYR_DESIGN_VERSION) {
        return myr_err_set(err, MYR_EVERSION,
                           "%s:1:1: design file of version %u, this program reads version %d", name,
                           header->version, MYR_DESIGN_VERSION);
    }
    if (header->header_crc != crc_of(header, offsetof(struct file_header, header_crc))) {
        return damaged(err, name, "the header's checksum is wrong");
    }
    if (header->file_bytes != bytes) {
        return damaged(err, name, "it is cut off or has grown");
    }
    if (header->section_count > SECTIONS_MAX ||
        sizeof(*header) + header->section_count * sizeof(struct section_entry) > bytes) {
        return damaged(err, name, "its table of sections does not fit");
    }
    return MYR_OK;
}

/* NULL: a tag of a newer program. */
static const struct section *section_named(const char tag[NAME_TAG_BYTES])
{
    for (uint32_t i = 0; i < SECTION_COUNT; i++) {
        char padded[NAME_TAG_BYTES] = {};
        memcpy(padded, sections[i].tag, strlen(sections[i].tag));
        if (memcmp(padded, tag, sizeof(padded)) == 0) {
            return &sections[i];
        }
    }
    return NULL;
}

static bool all_zero(const char *image, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        if (image[i] != 0) {
            return false;
        }
    }
    return true;
}

/*
 * Sections come in order and do not overlap, also those that this program does not know; what lies
 * between them is zero. So there is no bit in a file that may change unseen.
 */
static int check_layout(const struct file_header *header, const struct section_entry *table,
                        size_t bytes, const char *name, struct myr_err *err)
{
    const char *image = (const char *)header;
    uint64_t end = sizeof(*header) + header->section_count * sizeof(*table);
    for (uint32_t i = 0; i < header->section_count; i++) {
        const struct section_entry *entry = &table[i];
        if (entry->offset % SECTION_ALIGN || entry->offset < end || entry->offset > bytes ||
            entry->bytes > bytes - entry->offset) {
            return damaged(err, name, "a section lies outside the file or over another");
        }
        if (!all_zero(image, end, entry->offset)) {
            return damaged(err, name, "there is something between its sections");
        }
        if (entry->crc != (entry->bytes ? crc_of(image + entry->offset, entry->bytes) : 0)) {
            return damaged(err, name, "a section's checksum is wrong");
        }
        end = entry->offset + entry->bytes;
    }
    return all_zero(image, end, bytes)
               ? MYR_OK
               : damaged(err, name, "there is something behind its sections");
}

/* Points the design's array at the section. Counts are compared once all are known. */
static int take_section(struct myr_design *design, const struct section_entry *entry,
                        const struct section *section, void *image, const char *name,
                        struct myr_err *err)
{
    void *data = (char *)image + entry->offset;
    if (entry->version != MYR_DESIGN_VERSION) {
        return damaged(err, name, "a section is of another version");
    }
    if (entry->item_bytes != section->item_bytes || entry->bytes % section->item_bytes) {
        return damaged(err, name, "a section has items of another size");
    }
    /* The first is taken by then: two would disagree unseen. */
    if (*pointer_of(design, section)) {
        return damaged(err, name, "a section comes twice");
    }
    *pointer_of(design, section) = data;
    if (section->count_comes) {
        uint64_t count = entry->bytes / section->item_bytes;
        if (count >= MYR_NONE) {
            return damaged(err, name, "a section is too long");
        }
        *count_of(design, section) = (uint32_t)count;
    }
    return MYR_OK;
}

/* The design points into 'image', which must outlive it; nothing is copied. */
int myr_design_parse(struct myr_design *ret, void *image, size_t bytes, const char *name,
                     struct myr_err *err)
{
    MYR_ASSERT(image);
    const struct file_header *header = image;
    MYR_TRY(check_header(header, bytes, name, err));
    const struct section_entry *table = (const void *)(header + 1);
    if (header->table_crc != crc_of(table, header->section_count * sizeof(*table))) {
        return damaged(err, name, "the checksum of its table of sections is wrong");
    }
    MYR_TRY(check_layout(header, table, bytes, name, err));
    struct myr_design design = {};
    const struct section_entry *entries[SECTION_COUNT] = {};
    for (uint32_t i = 0; i < header->section_count; i++) {
        const struct section *section = section_named(table[i].tag);
        if (!section) {
            continue; /* from a newer program */
        }
        entries[section - sections] = &table[i];
        MYR_TRY(take_section(&design, &table[i], section, image, name, err));
    }
    for (uint32_t i = 0; i < SECTION_COUNT; i++) {
        /* Its pointer stays NULL, which says "not there" to all who ask. */
        if (!entries[i] && sections[i].optional) {
            continue;
        }
        if (!entries[i]) {
            return damaged(err, name, "a section is missing");
        }
        if (entries[i]->bytes != item_count(&design, &sections[i]) * sections[i].item_bytes) {
            return damaged(err, name, "two sections disagree about a count");
        }
    }
    MYR_TRY(myr_design_check(&design, name, err));
    *ret = design;
    return MYR_OK;
}

/*
 * Standard input, a FIFO or a device cannot be mapped: a copy stands for the file, and is unmapped
 * like one. What does not begin like a design is not read to its end, which may never come.
 */
static int map_copy(const char *path, void **ret, size_t *ret_bytes, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_kind_read(path, COPY_BYTES_MAX, MYR_KIND_BIT(DESIGN), design_expected, &text, err));
    if (text.len == 0) {
        return damaged(err, myr_file_name(path), "it is empty");
    }
    void *mapping =
        mmap(NULL, text.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        return myr_err_errno(err, "cannot read", myr_file_name(path));
    }
    memcpy(mapping, text.data, text.len);
    *ret = mapping;
    *ret_bytes = text.len;
    return MYR_OK;
}

static int map_file(const char *path, void **ret, size_t *ret_bytes, struct myr_err *err)
{
    /* O_NONBLOCK: what became a FIFO meanwhile must not make us wait for nothing. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    /* The mapping holds the file: the descriptor is closed in any case. */
    struct stat st;
    int rc = MYR_OK;
    if (fstat(fd, &st) < 0) {
        rc = myr_err_errno(err, "cannot read", path);
    } else if (S_ISDIR(st.st_mode)) {
        rc = myr_err_set(err, MYR_ECORRUPT, "%s:1:1: not a usable design file: it is a folder",
                         path);
        myr_err_hint(err, "the design.myr in it, where 'myriad plan SPEC --out DIR' made it");
    } else if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        rc = damaged(err, path, S_ISREG(st.st_mode) ? "it is empty" : "it is no regular file");
    } else {
        /* Private and writable by nobody: a design is immutable. */
        void *mapping = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapping == MAP_FAILED) {
            rc = myr_err_errno(err, "cannot map", path);
        } else {
            *ret = mapping;
            *ret_bytes = (size_t)st.st_size;
        }
    }
    close(fd);
    return rc;
}

/* Standard input, a FIFO, "<(...)" or a terminal: bytes that come once. */
static bool flows(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)));
}

/* The mapping belongs to the design from here on, and is let go where it is no design. */
int myr_design_open(struct myr_design *ret, const char *path, struct myr_err *err)
{
    void *mapping = NULL;
    size_t bytes = 0;
    MYR_TRY(flows(path) ? map_copy(path, &mapping, &bytes, err)
                        : map_file(path, &mapping, &bytes, err));
    int rc = myr_design_parse(ret, mapping, bytes, myr_file_name(path), err);
    if (rc < 0) {
        munmap(mapping, bytes);
        return rc;
    }
    ret->mapping = mapping;
    ret->mapping_bytes = bytes;
    return MYR_OK;
}

/* One that was parsed from the caller's memory has no mapping, and nothing is unmapped. */
void myr_design_close(struct myr_design *design)
{
    if (design->mapping) {
        munmap(design->mapping, design->mapping_bytes);
    }
    *design = (struct myr_design){};
}
