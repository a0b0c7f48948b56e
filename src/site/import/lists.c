#include "import/readers.h"

/*
 * Lists of cables as CSV: NetBox's and point-to-point ones. They differ in the names of their
 * columns only. Columns are found by name, in any order; those that are not known (rack, U, colour)
 * are left alone.
 *
 * An end without a device says that nothing is plugged in at the other one; '?' says that nobody
 * looked.
 */

enum column {
    A_DEVICE,
    A_PORT,
    B_DEVICE,
    B_PORT,
    NEEDED_COUNT, /* the columns above must be there */
    A_TYPE = NEEDED_COUNT,
    B_TYPE, /* what kind of thing the ends are */
    STATUS, /* of the cable: planned ones are not found */
    MEDIUM,
    LABEL,
    LENGTH,
    LENGTH_UNIT,
    SPEED,
    WIDTH,  /* lanes */
    ERRORS, /* as counted */
    BER,    /* before correction */
    FEC,
    COLUMN_COUNT,
};

/* Of one column, and letters of a header that is compared. */
enum { SPELLINGS = 5, HEADER_NAME_MAX = 32 };

/* Small letters and digits only, as headers are compared. The first spelling is shown to people. */
struct list_format {
    const char *title;
    const char *shown[NEEDED_COUNT];
    const char *columns[COLUMN_COUNT][SPELLINGS];
    bool has_types; /* of the ends: power and console cables are in the list too */
};

static const struct list_format netbox_format = {
    .title = "NetBox cable list",
    .shown = {"side_a_device", "side_a_name", "side_b_device", "side_b_name"},
    .columns =
        {
            [A_DEVICE] = {"sideadevice", "devicea"}, /* what is imported; what is exported */
            [A_PORT] = {"sideaname", "terminationa"},
            [B_DEVICE] = {"sidebdevice", "deviceb"},
            [B_PORT] = {"sidebname", "terminationb"},
            [A_TYPE] = {"sideatype"},
            [B_TYPE] = {"sidebtype"},
            [STATUS] = {"status"},
            [MEDIUM] = {"type"},
            [LABEL] = {"label"},
            [LENGTH] = {"length"},
            [LENGTH_UNIT] = {"lengthunit"},
        },
    .has_types = true,
};

static const struct list_format p2p_format = {
    .title = "point-to-point list",
    .shown = {"A-Node Name", "A-Port", "Z-Node Name", "Z-Port"},
    .columns =
        {
            [A_DEVICE] = {"anodename", "anode", "adevice", "sourcedevice", "fromdevice"},
            [A_PORT] = {"aport", "aportname", "sourceport", "fromport"},
            [B_DEVICE] = {"znodename", "znode", "zdevice", "destinationdevice", "todevice"},
            [B_PORT] = {"zport", "zportname", "destinationport", "toport"},
            [A_TYPE] = {"atype"},
            [B_TYPE] = {"ztype"},
            [LABEL] = {"label", "cablelabel"},
            [SPEED] = {"speed", "gbps", "speedgbps"},
            [WIDTH] = {"width", "lanes"},
            [ERRORS] = {"errors", "symbolerrors"},
            [BER] = {"ber", "rawber", "prefecber"},
            [FEC] = {"fec", "fecmode"},
            [MEDIUM] = {"medium", "cabletype"},
        },
};

struct list_reader {
    struct myr_import *import;
    const struct list_format *format;
    struct myr_csv csv;
    uint32_t at[COLUMN_COUNT]; /* field of each column; MYR_NONE: not there */
    uint32_t field_count;      /* of the header: all rows have as many */
    uint32_t file;             /* of the cabling's list of files */
    uint32_t last[2];          /* devices of the row before */
};

/* Signs and blanks differ from list to list: "A-Node Name", "a_node_name". */
static size_t plain_name(struct myr_str text, char ret[HEADER_NAME_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool capital = c >= 'A' && c <= 'Z';
        bool plain = capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain && len == HEADER_NAME_MAX) {
            return 0; /* longer than any that is known */
        }
        if (plain) {
            ret[len++] = (char)(capital ? c + ('a' - 'A') : c);
        }
    }
    return len;
}

/* COLUMN_COUNT: none that is known. */
static uint32_t column_of(const struct list_format *format, struct myr_str text)
{
    char plain[HEADER_NAME_MAX];
    struct myr_str name = {plain, plain_name(text, plain)};
    for (uint32_t c = 0; name.len > 0 && c < COLUMN_COUNT; c++) {
        for (uint32_t s = 0; s < SPELLINGS && format->columns[c][s]; s++) {
            if (myr_str_eq(name, myr_str_from(format->columns[c][s]))) {
                return c;
            }
        }
    }
    return COLUMN_COUNT;
}

bool import_is_called(struct myr_str field, const char *plain_wanted)
{
    char plain[HEADER_NAME_MAX];
    struct myr_str name = {plain, plain_name(field, plain)};
    return name.len && myr_str_eq(name, myr_str_from(plain_wanted));
}

/*
 * Sheets of cable checkers name both ends alike, "Rack,U,Name,HCA/Port,Rack,U,Name,Port": the first
 * one is A's. 'sure': a name that is there once, beside no other end, may be about something else.
 */
static uint32_t paired_column(const struct list_reader *reader, uint32_t f, bool sure)
{
    static const struct {
        const char *names[2];
        enum column first, second;
    } pairs[] = {{{"name", "nodename"}, A_DEVICE, B_DEVICE}, {{"hcaport", "port"}, A_PORT, B_PORT}};
    const struct myr_csv *csv = &reader->csv;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        uint32_t count = 0;
        for (uint32_t other = 0; other < csv->count; other++) {
            count += import_is_called(csv->fields[other], pairs[i].names[0]) ||
                     import_is_called(csv->fields[other], pairs[i].names[1]);
        }
        bool first = reader->at[pairs[i].first] == MYR_NONE;
        bool second = reader->at[pairs[i].second] == MYR_NONE;
        if ((import_is_called(csv->fields[f], pairs[i].names[0]) ||
             import_is_called(csv->fields[f], pairs[i].names[1])) &&
            (!sure || count > 1 || first != second)) {
            return first ? pairs[i].first : second ? pairs[i].second : COLUMN_COUNT;
        }
    }
    return COLUMN_COUNT;
}

/* "From" and "To", where nothing else says which columns the devices are in. */
static uint32_t short_column(const struct list_reader *reader, uint32_t f)
{
    static const struct {
        const char *name;
        enum column column;
    } words[] = {
        {"from", A_DEVICE}, {"source", A_DEVICE}, {"to", B_DEVICE}, {"destination", B_DEVICE}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (import_is_called(reader->csv.fields[f], words[i].name) &&
            reader->at[words[i].column] == MYR_NONE) {
            return words[i].column;
        }
    }
    return COLUMN_COUNT;
}

/* Both words of one pair, each once: then they are the ends, and names are of something else. */
static bool has_short_ends(const struct myr_csv *csv)
{
    static const char *const words[][2] = {{"from", "to"}, {"source", "destination"}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        uint32_t counts[2] = {0, 0};
        for (uint32_t f = 0; f < csv->count; f++) {
            counts[0] += import_is_called(csv->fields[f], words[i][0]);
            counts[1] += import_is_called(csv->fields[f], words[i][1]);
        }
        if (counts[0] == 1 && counts[1] == 1) {
            return true;
        }
    }
    return false;
}

/* What is named outright first; then what only its neighbours tell. */
static int find_columns(struct list_reader *reader, struct myr_err *err)
{
    struct myr_csv *csv = &reader->csv;
    for (uint32_t f = 0; f < csv->count; f++) {
        uint32_t column = column_of(reader->format, csv->fields[f]);
        /* A column twice is refused: nobody knows which one is meant. */
        if (column != COLUMN_COUNT && reader->at[column] != MYR_NONE) {
            char excerpt[MYR_EXCERPT_MAX];
            return myr_csv_error(err, csv, f, "column '%s' is there twice",
                                 myr_text_excerpt(csv->fields[f], excerpt));
        }
        if (column != COLUMN_COUNT) {
            reader->at[column] = f;
        }
    }
    /*
     * Pairs, then short words, which come first where both are there; a name that is left alone is
     * still the first of a pair.
     */
    bool short_first = has_short_ends(csv);
    for (uint32_t pass = 0; pass < 3 && reader->format == &p2p_format; pass++) {
        for (uint32_t f = 0; f < csv->count; f++) {
            bool is_short = pass == (short_first ? 0 : 1);
            uint32_t column =
                is_short ? short_column(reader, f) : paired_column(reader, f, pass < 2);
            if (column != COLUMN_COUNT) {
                reader->at[column] = f;
            }
        }
    }
    return MYR_OK;
}

static int read_header(struct list_reader *reader, struct myr_err *err)
{
    struct myr_csv *csv = &reader->csv;
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        reader->at[c] = MYR_NONE;
    }
    int rc = myr_csv_next(csv, err);
    if (rc < 0) {
        return rc;
    }
    if (rc == 0) {
        struct import_place place = {csv->file, 1, 1};
        return import_error(err, place, "the file is empty");
    }
    MYR_TRY(find_columns(reader, err));
    reader->field_count = csv->count;
    for (uint32_t c = 0; c < NEEDED_COUNT; c++) {
        if (reader->at[c] == MYR_NONE) {
            rc = myr_csv_error(err, csv, 0, "a %s has a column '%s', this one has not",
                               reader->format->title, reader->format->shown[c]);
            myr_err_hint(err, "the first row names the columns; --from tells another format");
            return rc;
        }
    }
    return MYR_OK;
}

static struct myr_str field(const struct list_reader *reader, enum column column)
{
    uint32_t at = reader->at[column];
    return at == MYR_NONE ? MYR_STR("") : import_tidy(reader->import, reader->csv.fields[at]);
}

/* A cell that says nothing is no number and no fault: 0. */
static int optional_number(const struct list_reader *reader, enum column column, uint64_t max,
                           uint64_t *ret, struct myr_err *err)
{
    *ret = 0;
    if (reader->at[column] == MYR_NONE) {
        return MYR_OK;
    }
    struct myr_str text = field(reader, column);
    if (myr_link_says_nothing(text)) {
        return MYR_OK;
    }
    if (!myr_str_to_u64(text, ret) || *ret > max) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_csv_error(err, &reader->csv, reader->at[column],
                             "'%s' is no whole number up to %llu", myr_text_excerpt(text, excerpt),
                             (unsigned long long)max);
    }
    return MYR_OK;
}

/* NetBox's units; a length is kept in millimetres. */
static int read_length(const struct list_reader *reader, uint32_t *ret, struct myr_err *err)
{
    static const struct {
        const char *unit;
        double mm;
    } units[] = {{"m", 1000},     {"cm", 10},       {"km", 1000000},    {"ft", 304.8},
                 {"in", 25.4},    {"mi", 1609344},  {"meters", 1000},   {"centimeters", 10},
                 {"feet", 304.8}, {"inches", 25.4}, {"miles", 1609344}, {"kilometers", 1e6}};
    struct myr_str text = field(reader, LENGTH), unit = field(reader, LENGTH_UNIT);
    char excerpt[MYR_EXCERPT_MAX];
    double value;
    *ret = 0;
    if (myr_link_says_nothing(text)) {
        return MYR_OK;
    }
    const char *blank = memchr(text.data, ' ', text.len);
    if (blank && unit.len == 0) { /* exports have both in one cell: "10.5 m" */
        size_t digits = (size_t)(blank - text.data);
        unit = (struct myr_str){blank + 1, text.len - digits - 1};
        text.len = digits;
    }
    /* Longer than any cable, and far from what does not fit. */
    if (!myr_str_to_double(text, &value) || !(value >= 0 && value <= 100000)) {
        return myr_csv_error(err, &reader->csv, reader->at[LENGTH], "'%s' is no length",
                             myr_text_excerpt(text, excerpt));
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(units); i++) {
        if (myr_str_eq_nocase(unit, myr_str_from(units[i].unit))) {
            double mm = value * units[i].mm;
            *ret = mm < (double)UINT32_MAX ? (uint32_t)(mm + 0.5) : UINT32_MAX;
            return MYR_OK;
        }
    }
    bool has_unit = reader->at[LENGTH_UNIT] != MYR_NONE;
    return myr_csv_error(err, &reader->csv, reader->at[has_unit ? LENGTH_UNIT : LENGTH],
                         "'%s' is no unit of length; m, cm, km, ft, in or mi is expected",
                         myr_text_excerpt(unit, excerpt));
}

/* A rate such as 3.1e-7, and a mode such as "RS" or "none". */
static int read_health(const struct list_reader *reader, struct myr_cabling_link *link,
                       struct myr_err *err)
{
    struct myr_str ber = field(reader, BER);
    if (!myr_link_says_nothing(ber) &&
        (!myr_str_to_double(ber, &link->ber) || !(link->ber >= 0 && link->ber <= 1))) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_csv_error(err, &reader->csv, reader->at[BER], "'%s' is no bit error rate",
                             myr_text_excerpt(ber, excerpt));
    }
    enum myr_link_fec fec = myr_link_fec(field(reader, FEC));
    link->no_fec = fec == MYR_LINK_FEC_OFF;
    if (fec == MYR_LINK_FEC_UNKNOWN) {
        link->unread[MYR_LINK_FEC] =
            myr_cabling_word(reader->import->cabling, MYR_LINK_FEC, field(reader, FEC));
    }
    return MYR_OK;
}

/*
 * NetBox has three; the others are a site's own, and whether such a cable is in use nobody knows.
 * Planned ones were left out before.
 */
static void read_status(const struct list_reader *reader, struct myr_cabling_link *link)
{
    struct myr_str status = field(reader, STATUS);
    bool known = myr_link_says_nothing(status) || myr_str_eq_nocase(status, MYR_STR("connected")) ||
                 myr_str_eq_nocase(status, MYR_STR("decommissioning"));
    if (!known) {
        link->unread[MYR_LINK_STATUS] =
            myr_cabling_word(reader->import->cabling, MYR_LINK_STATUS, status);
    }
}

/* Numbers are Gb/s; a word that is none of a speed is no reason to refuse the list. */
static void read_speed(const struct list_reader *reader, struct myr_cabling_link *link)
{
    struct myr_str text = field(reader, SPEED);
    if (!myr_link_says_nothing(text) &&
        !import_gbps(&reader->import->speeds, text, &link->gbps, &link->width)) {
        link->unread[MYR_LINK_SPEED] =
            myr_cabling_word(reader->import->cabling, MYR_LINK_SPEED, text);
    }
}

/* What is known of the cable besides its ends; all of it may be missing. */
static int read_facts(const struct list_reader *reader, struct myr_cabling_link *link,
                      struct myr_err *err)
{
    uint64_t width;
    read_speed(reader, link);
    MYR_TRY(optional_number(reader, WIDTH, 64, &width, err));
    MYR_TRY(optional_number(reader, ERRORS, UINT64_MAX, &link->errors, err));
    MYR_TRY(read_health(reader, link, err));
    read_status(reader, link);
    MYR_TRY(read_length(reader, &link->length_mm, err));
    link->width = width ? (uint32_t)width : link->width; /* "4xNDR" tells it too */
    link->label = field(reader, LABEL);
    link->medium = field(reader, MEDIUM);
    return MYR_OK;
}

/* A port, nothing in it, or nobody looked. */
enum end_kind { END_THERE, END_EMPTY, END_UNKNOWN };

static bool is_question(struct myr_str text)
{
    return myr_str_eq(text, MYR_STR("?"));
}

/* The columns of one end. */
struct end_columns {
    enum column device, port, type;
};

static const struct end_columns columns_a = {A_DEVICE, A_PORT, A_TYPE};
static const struct end_columns columns_b = {B_DEVICE, B_PORT, B_TYPE};

/* The device of the row before on this side: lists go device by device. */
static bool is_last(const struct list_reader *reader, bool second, struct myr_str name)
{
    const struct myr_cabling *cabling = reader->import->cabling;
    uint32_t last = reader->last[second];
    return last < cabling->devices.count && myr_str_eq(cabling->devices.items[last].name, name);
}

/* 'known': the device's name was good in the row before. */
static int check_names(const struct list_reader *reader, const struct end_columns *columns,
                       struct myr_str name, struct myr_str port, bool known, struct myr_err *err)
{
    if ((!known && !import_name_is_good(name)) || !import_name_is_good(port)) {
        uint32_t bad = reader->at[import_name_is_good(name) ? columns->port : columns->device];
        return myr_csv_error(err, &reader->csv, bad,
                             "a name has control characters or more than %u bytes",
                             MYR_IMPORT_NAME_MAX);
    }
    if (port.len == 0) {
        return myr_csv_error(err, &reader->csv, reader->at[columns->port],
                             "a device without a port in column '%s'",
                             reader->format->shown[columns->port]);
    }
    return MYR_OK;
}

/* Everybody who stands in a list is taken as looked at, port by port. */
static int read_end(struct list_reader *reader, const struct end_columns *columns,
                    struct myr_cabling_end *ret, enum end_kind *ret_kind, struct myr_err *err)
{
    struct myr_cabling *cabling = reader->import->cabling;
    struct myr_str name = field(reader, columns->device), port = field(reader, columns->port);
    *ret_kind = is_question(name) ? END_UNKNOWN : name.len == 0 ? END_EMPTY : END_THERE;
    if (*ret_kind != END_THERE) {
        /* Neither a device nor a port: the cell is empty on purpose. */
        bool bare = port.len == 0 || is_question(port);
        return bare ? MYR_OK
                    : myr_csv_error(err, &reader->csv, reader->at[columns->device],
                                    "a port without a device in column '%s'",
                                    reader->format->shown[columns->device]);
    }
    bool second = columns == &columns_b, known = is_last(reader, second, name);
    MYR_TRY(check_names(reader, columns, name, port, known, err));
    /* Saves the search in the map, which lists of a million rows would feel. */
    reader->last[second] = known ? reader->last[second] : myr_cabling_device(cabling, name);
    ret->device = reader->last[second];
    ret->port = port;
    struct myr_cabling_device *found = &cabling->devices.items[ret->device];
    found->reported = !reader->import->partial;
    found->line = found->line ? found->line : reader->csv.line;
    found->is_switch =
        found->is_switch || myr_str_eq_nocase(field(reader, columns->type), MYR_STR("switch"));
    return MYR_OK;
}

/* Rows that are about something else than a network cable in its place. */
static bool is_other(const struct list_reader *reader)
{
    if (!reader->format->has_types) {
        return false;
    }
    struct myr_str a = field(reader, A_TYPE), b = field(reader, B_TYPE);
    bool interfaces = (a.len == 0 || myr_str_eq(a, MYR_STR("dcim.interface"))) &&
                      (b.len == 0 || myr_str_eq(b, MYR_STR("dcim.interface")));
    /* A cable that is only planned is not found. */
    return !interfaces || myr_str_eq_nocase(field(reader, STATUS), MYR_STR("planned"));
}

/* A cable, one end alone, or nothing. */
static int read_row(struct list_reader *reader, struct myr_err *err)
{
    struct myr_cabling *cabling = reader->import->cabling;
    struct myr_cabling_link link = {.line = reader->csv.line, .file = reader->file};
    enum end_kind kind_a, kind_b;
    if (is_other(reader)) {
        reader->import->other_count++;
        return MYR_OK;
    }
    MYR_TRY(read_end(reader, &columns_a, &link.a, &kind_a, err));
    MYR_TRY(read_end(reader, &columns_b, &link.b, &kind_b, err));
    /* Facts are read of real cables only: other rows may hold anything there. */
    if (kind_a == END_THERE && kind_b == END_THERE) {
        if (link.a.device == link.b.device && myr_str_eq(link.a.port, link.b.port)) {
            return myr_csv_error(err, &reader->csv, reader->at[B_PORT],
                                 "the cable ends where it begins");
        }
        MYR_TRY(read_facts(reader, &link, err));
        myr_vec_push(&cabling->links, link);
        return MYR_OK;
    }
    if (kind_a == END_THERE || kind_b == END_THERE) {
        bool unknown = kind_a == END_UNKNOWN || kind_b == END_UNKNOWN;
        struct myr_cabling_bare bare = {kind_a == END_THERE ? link.a : link.b, unknown};
        myr_vec_push(&cabling->bare, bare);
    }
    return MYR_OK; /* a row of commas: spreadsheets leave them behind */
}

/* Rows must be as long as the header: a comma too many shifts all that follows. */
static int read_list(struct myr_import *import, const struct list_format *format, const char *file,
                     struct myr_str text, struct myr_err *err)
{
    struct list_reader reader = {.import = import,
                                 .format = format,
                                 .file = (uint32_t)import->cabling->files.count - 1,
                                 .last = {MYR_NONE, MYR_NONE}};
    myr_csv_init(&reader.csv, import->cabling->arena, file, text);
    MYR_TRY(read_header(&reader, err));
    int rc;
    while ((rc = myr_csv_next(&reader.csv, err)) > 0) {
        struct import_place place = {file, reader.csv.line, 1};
        if (reader.csv.count != reader.field_count) {
            return myr_csv_error(err, &reader.csv, reader.csv.count - 1,
                                 "the row has %u fields, the header %u", reader.csv.count,
                                 reader.field_count);
        }
        MYR_TRY(import_check_room(import, place, err));
        MYR_TRY(read_row(&reader, err));
    }
    return rc;
}

int import_netbox(struct myr_import *import, const char *file, struct myr_str text,
                  struct myr_err *err)
{
    return read_list(import, &netbox_format, file, text, err);
}

int import_p2p(struct myr_import *import, const char *file, struct myr_str text,
               struct myr_err *err)
{
    return read_list(import, &p2p_format, file, text, err);
}
