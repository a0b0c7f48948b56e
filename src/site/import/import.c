#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/readers.h"

/*
 * From files and folders to readers: what a text is is told by its beginning, or by the user; each
 * format has one reader (readers.h). All of them add to one cabling.
 */

/* Enough to tell a format by, and little enough to keep. */
enum { PIECE_BYTES = 1 << 20 };

/* By enum myr_import_format. */
const char *const myr_import_names[MYR_IMPORT_FORMAT_COUNT] = {
    "auto",      "ibnetdiscover", "ibqueryerrors",   "lldp",
    "netbox",    "p2p",           "ibnetdiscover-p", "iblinkinfo",
    "ibdiagnet", "links-json",    "sonic-lldp",      "ptm"};

void myr_import_init(struct myr_import *import, struct myr_cabling *cabling)
{
    *import = (struct myr_import){.cabling = cabling};
    myr_speed_map_init(&import->speeds);
}

void myr_import_done(struct myr_import *import)
{
    myr_strmap_done(&import->ids);
    myr_u64map_done(&import->ports);
    myr_u64map_done(&import->stanzas);
    myr_strmap_done(&import->words);
    myr_vec_done(&import->tables);
}

/* The strictest reader has what no other one knows. */
static enum myr_import_format guess_format(struct myr_str text)
{
    static const struct {
        enum myr_kind kind;
        enum myr_import_format format;
    } formats[] = {
        {MYR_KIND_LLDP, MYR_IMPORT_LLDP},
        {MYR_KIND_JSON, MYR_IMPORT_LLDP},
        {MYR_KIND_LINKS_JSON, MYR_IMPORT_LINKS_JSON},
        {MYR_KIND_NETBOX, MYR_IMPORT_NETBOX},
        {MYR_KIND_P2P, MYR_IMPORT_P2P},
        {MYR_KIND_IBQUERYERRORS, MYR_IMPORT_IBQUERYERRORS},
        {MYR_KIND_IB_LINES, MYR_IMPORT_IB_LINES},
        {MYR_KIND_IBLINKINFO, MYR_IMPORT_IBLINKINFO},
        {MYR_KIND_IBDIAGNET, MYR_IMPORT_IBDIAGNET},
        {MYR_KIND_SONIC_LLDP, MYR_IMPORT_SONIC_LLDP},
        {MYR_KIND_PTM, MYR_IMPORT_PTM},
    };
    enum myr_kind kind = myr_kind_of(text);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(formats); i++) {
        if (formats[i].kind == kind) {
            return formats[i].format;
        }
    }
    /* What is no other kind; its reader says what is wrong with it. */
    return MYR_IMPORT_IBNETDISCOVER;
}

static int (*const readers[MYR_IMPORT_FORMAT_COUNT])(struct myr_import *, const char *,
                                                     struct myr_str, struct myr_err *) = {
    [MYR_IMPORT_IBNETDISCOVER] = import_ibnetdiscover,
    [MYR_IMPORT_IBQUERYERRORS] = import_errors,
    [MYR_IMPORT_LLDP] = import_lldp,
    [MYR_IMPORT_NETBOX] = import_netbox,
    [MYR_IMPORT_P2P] = import_p2p,
    [MYR_IMPORT_IB_LINES] = import_ib_lines,
    [MYR_IMPORT_IBLINKINFO] = import_iblinkinfo,
    [MYR_IMPORT_IBDIAGNET] = import_ibdiagnet,
    [MYR_IMPORT_LINKS_JSON] = import_links_json,
    [MYR_IMPORT_SONIC_LLDP] = import_sonic_lldp,
    [MYR_IMPORT_PTM] = import_ptm,
};

/* What each reader takes, and how it is called. */
static const struct {
    uint64_t kinds;
    const char *words;
} accepted[MYR_IMPORT_FORMAT_COUNT] = {
    [MYR_IMPORT_AUTO] = {MYR_KIND_BIT(IBNETDISCOVER) | MYR_KIND_BIT(IBQUERYERRORS) |
                             MYR_KIND_BIT(LLDP) | MYR_KIND_BIT(NETBOX) | MYR_KIND_BIT(P2P) |
                             MYR_KIND_BIT(IB_LINES) | MYR_KIND_BIT(IBLINKINFO) |
                             MYR_KIND_BIT(IBDIAGNET) | MYR_KIND_BIT(LINKS_JSON) |
                             MYR_KIND_BIT(SONIC_LLDP) | MYR_KIND_BIT(PTM),
                         "output of ibnetdiscover, ibqueryerrors or lldpcli, or a NetBox or "
                         "point-to-point list,"},
    [MYR_IMPORT_IBNETDISCOVER] = {MYR_KIND_BIT(IBNETDISCOVER), "ibnetdiscover output"},
    [MYR_IMPORT_IBQUERYERRORS] = {MYR_KIND_BIT(IBQUERYERRORS), "ibqueryerrors output"},
    [MYR_IMPORT_LLDP] = {MYR_KIND_BIT(LLDP) | MYR_KIND_BIT(JSON),
                         "the JSON of 'lldpcli -f json show neighbors'"},
    [MYR_IMPORT_NETBOX] = {MYR_KIND_BIT(NETBOX) | MYR_KIND_BIT(CSV), "a NetBox cable list"},
    [MYR_IMPORT_P2P] = {MYR_KIND_BIT(P2P) | MYR_KIND_BIT(CSV), "a point-to-point list"},
    [MYR_IMPORT_IB_LINES] = {MYR_KIND_BIT(IB_LINES), "output of 'ibnetdiscover -p'"},
    [MYR_IMPORT_IBLINKINFO] = {MYR_KIND_BIT(IBLINKINFO), "iblinkinfo output"},
    [MYR_IMPORT_IBDIAGNET] = {MYR_KIND_BIT(IBDIAGNET),
                              "ibdiagnet2.net_dump, .lst, .cables or a .topo"},
    [MYR_IMPORT_LINKS_JSON] = {MYR_KIND_BIT(LINKS_JSON) | MYR_KIND_BIT(JSON),
                               "UFM's or NetQ's links as JSON"},
    [MYR_IMPORT_SONIC_LLDP] = {MYR_KIND_BIT(SONIC_LLDP), "SONiC's 'show lldp table'"},
    [MYR_IMPORT_PTM] = {MYR_KIND_BIT(PTM), "a topology.dot of PTM"},
};

/* What every file goes through first. */
static int begin_file(struct myr_import *import, enum myr_import_format *format, const char *file,
                      struct myr_str text, struct myr_err *err)
{
    MYR_ASSERT(*format < MYR_IMPORT_FORMAT_COUNT);
    MYR_TRY(myr_kind_check(file, text, accepted[*format].kinds, accepted[*format].words, err));
    /* The file's name is kept before it is read, since messages and links refer to it. */
    myr_vec_push(&import->cabling->files, file);
    import->file_count++;
    import->guessed = *format == MYR_IMPORT_AUTO;
    *format = import->guessed ? guess_format(text) : *format;
    return MYR_OK;
}

/* The text must live as long as the cabling: names point into it. */
int myr_import_text(struct myr_import *import, enum myr_import_format format, const char *file,
                    struct myr_str text, struct myr_err *err)
{
    text = import_tools_own(import->cabling->arena, text, true);
    MYR_TRY(begin_file(import, &format, file, text, err));
    return readers[format](import, file, text, err);
}

/* A file that is read piece by piece. */
struct open_file {
    const char *path;
    bool in_folder; /* nobody named it: it lay beside others */
    int fd;
    int error;      /* errno of the first failure */
    uint64_t bytes; /* read so far */
};

/* 0 at the end and on failure; the failure is kept for check_read(). */
static size_t fill_from_file(void *context, char *to, size_t room)
{
    struct open_file *file = context;
    ssize_t got;
    do {
        got = read(file->fd, to, room);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        file->error = errno;
        return 0;
    }
    file->bytes += (uint64_t)got;
    return (size_t)got;
}

/* What went wrong first counts. */
static int check_read(const struct open_file *file, struct myr_err *err)
{
    if (file->error) {
        errno = file->error;
        return myr_err_errno(err, "cannot read", myr_file_name(file->path));
    }
    if (file->bytes > MYR_IMPORT_BYTES_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: larger than %llu bytes, the most allowed here",
                           myr_file_name(file->path), MYR_IMPORT_BYTES_MAX);
    }
    return MYR_OK;
}

/* Reads until the buffer has 'wanted' bytes or the file ends. */
static int read_up_to(struct open_file *file, struct myr_buf *text, uint64_t wanted,
                      struct myr_err *err)
{
    size_t got = 1;
    /*
     * Reading stops behind the bound and not at it: that is how a file that is too large is
     * noticed.
     */
    while (got > 0 && text->len < wanted && file->bytes <= MYR_IMPORT_BYTES_MAX) {
        myr_buf_reserve(text, PIECE_BYTES);
        got = fill_from_file(file, text->data + text->len, PIECE_BYTES);
        text->len += got;
    }
    return check_read(file, err);
}

/* LLDP is read piece by piece; any other text is kept whole. */
static int import_open_file(struct myr_import *import, enum myr_import_format format,
                            struct open_file *file, struct myr_err *err)
{
    struct myr_cabling *cabling = import->cabling;
    const char *name = myr_file_name(file->path);
    const char *kept = myr_arena_strndup(cabling->arena, name, strlen(name));
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(read_up_to(file, &text, PIECE_BYTES, err)); /* a first piece tells the format */
    struct myr_str own = import_tools_own(cabling->arena, (struct myr_str){text.data, text.len},
                                          text.len < PIECE_BYTES);
    bool lists = format == MYR_IMPORT_AUTO || format == MYR_IMPORT_NETBOX;
    if (file->in_folder && lists && import_is_netbox_table(cabling->arena, own)) {
        myr_vec_push(&import->tables, kept);
        return MYR_OK;
    }
    MYR_TRY(begin_file(import, &format, kept, own, err));
    /* The only format whose files are too large to be kept whole. */
    if (format == MYR_IMPORT_LLDP) {
        struct json_source source = {file, fill_from_file};
        int rc = import_lldp_stream(import, kept, own, &source, err);
        /* A file that could not be read says so, and not that its JSON ends too early. */
        MYR_TRY(check_read(file, err));
        return rc;
    }
    MYR_TRY(read_up_to(file, &text, UINT64_MAX, err));
    struct myr_str whole =
        import_tools_own(cabling->arena, (struct myr_str){text.data, text.len}, true);
    myr_vec_push(&cabling->texts, text); /* devices and ports point into it: the cabling keeps it */
    text = (struct myr_buf){};
    return readers[format](import, kept, whole, err);
}

/* "-" is standard input, which is not closed. */
static int import_one(struct myr_import *import, enum myr_import_format format, const char *path,
                      bool in_folder, struct myr_err *err)
{
    bool from_stdin = strcmp(path, "-") == 0;
    struct open_file file = {.path = path, .in_folder = in_folder};
    file.fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file.fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    int rc = import_open_file(import, format, &file, err);
    if (!from_stdin) {
        close(file.fd);
    }
    return rc;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/*
 * A folder holds one text a device, or all tables of a cable database; what begins with a dot is
 * not meant.
 */
static int import_folder(struct myr_import *import, enum myr_import_format format, const char *path,
                         struct myr_err *err)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(const char *) names = {};
    DIR *folder = opendir(path);
    if (!folder) {
        return myr_err_errno(err, "cannot open", path);
    }
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            const char *name =
                myr_arena_printf(import->cabling->arena, "%s/%s", path, entry->d_name);
            myr_vec_push(&names, name);
        }
    }
    closedir(folder);
    if (names.count == 0) {
        return myr_err_set(err, MYR_ENOENT, "%s: no files in this folder", path);
    }
    /* The folder's own order is the file system's; the same files must give the same answer. */
    qsort(names.items, names.count, sizeof(*names.items), compare_names);
    size_t before = import->tables.count;
    for (size_t i = 0; i < names.count; i++) {
        MYR_TRY(import_one(import, format, names.items[i], true, err));
    }
    if (import->tables.count - before == names.count) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: tables of NetBox, and none of them is its list of cables", path);
    }
    return MYR_OK;
}

int myr_import_file(struct myr_import *import, enum myr_import_format format, const char *path,
                    struct myr_err *err)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return import_folder(import, format, path, err);
    }
    return import_one(import, format, path, false, err);
}
