/*
 * read: files of the right kind. There is one place where a file that a user names is opened,
 * looked at and refused, so that every verb says the same of the same mistake.
 */
#include <stdio.h>

#include "kind/look.h"
#include "letter/message.h"
#include "letter/secret.h"
#include "myriad/base/file.h"
#include "myriad/base/infile.h"
#include "myriad/text/doc.h"

enum { SHOWN_KEYS = 3 };

static const char *const names[MYR_KIND_COUNT] = {
    [MYR_KIND_TEXT] = "some text",
    [MYR_KIND_EMPTY] = "an empty file",
    [MYR_KIND_BINARY] = "binary data",
    [MYR_KIND_GZIP] = "a gzip archive",
    [MYR_KIND_ZIP] = "a ZIP archive or an Excel workbook",
    [MYR_KIND_UTF16] = "text in UTF-16",
    [MYR_KIND_DESIGN] = "a design.myr",
    [MYR_KIND_SVG] = "an SVG drawing",
    [MYR_KIND_HTML] = "an HTML page",
    [MYR_KIND_XML] = "XML",
    [MYR_KIND_IBNETDISCOVER] = "ibnetdiscover output",
    [MYR_KIND_IBQUERYERRORS] = "ibqueryerrors output",
    [MYR_KIND_FORWARDING] = "forwarding tables of a subnet manager",
    [MYR_KIND_JSON] = "JSON",
    [MYR_KIND_LLDP] = "lldpcli's JSON",
    [MYR_KIND_LLDP_TEXT] = "lldpcli's text",
    [MYR_KIND_DESIGN_JSON] = "a design.json",
    [MYR_KIND_CSV] = "a CSV list",
    [MYR_KIND_P2P] = "a point-to-point list in CSV",
    [MYR_KIND_NETBOX] = "a NetBox cable list in CSV",
    [MYR_KIND_SEPARATED] = "a list with ';' or tabs between its columns",
    [MYR_KIND_YAML] = "YAML",
    [MYR_KIND_SPEC] = "a spec",
    [MYR_KIND_CATALOG] = "a catalogue",
    [MYR_KIND_BINDING] = "a binding",
    [MYR_KIND_IB_LINES] = "output of 'ibnetdiscover -p'",
    [MYR_KIND_IBLINKINFO] = "iblinkinfo output",
    [MYR_KIND_IBDIAGNET] = "ibdiagnet output",
    [MYR_KIND_LINKS_JSON] = "links of UFM or NetQ as JSON",
    [MYR_KIND_SONIC_LLDP] = "SONiC's 'show lldp table'",
    [MYR_KIND_PTM] = "a graph in dot",
    [MYR_KIND_LAYOUT] = "a layout",
    [MYR_KIND_MODEL] = "a model",
    [MYR_KIND_JOB] = "a job file",
    [MYR_KIND_SCENARIO] = "a scenario of the twin",
    [MYR_KIND_CASE] = "a case of the twin",
    [MYR_KIND_CONFIG] = "a server's configuration",
    [MYR_KIND_TENANTS] = "a tree of tenants",
    [MYR_KIND_SWEEP] = "a sweep of simulations",
    [MYR_KIND_PROFILE] = "a profile of fit",
    [MYR_KIND_RECOVERY] = "recovery data",
    [MYR_KIND_CONTENTION] = "a table of 'myriad sim contention'",
    [MYR_KIND_ROOM] = "a room",
    [MYR_KIND_KUBECONFIG] = "a kubeconfig",
    [MYR_KIND_ANSWER] = "an answer of Myriad",
    [MYR_KIND_STATE] = "a saved state of the controller",
    [MYR_KIND_SAVED] = "a saved run of 'myriad sim'",
    [MYR_KIND_SECRET] = "a token, a key or a certificate",
};

/* What to do about kinds that can be turned into one that is read. */
static const char *const hints[MYR_KIND_COUNT] = {
    [MYR_KIND_GZIP] = "gunzip it first, or: zcat FILE | myriad ... -",
    [MYR_KIND_ZIP] = "in a spreadsheet, save as \"CSV UTF-8\"",
    [MYR_KIND_UTF16] = "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE | myriad ... -",
    [MYR_KIND_LLDP_TEXT] = "lldpcli -f json show neighbors, whose output is read",
    [MYR_KIND_SEPARATED] = "put commas between the columns, or save as \"CSV UTF-8\"",
    [MYR_KIND_CONFIG] = "myriad serve DIR takes the folder that it lies in",
    [MYR_KIND_SECRET] = "keep it to yourself; nothing of it was shown",
};

/*
 * The verb that takes a document of ours, with its option where it has one, in front of its name:
 * whoever asks may have no such option.
 */
static const char *const takers[MYR_KIND_COUNT] = {
    [MYR_KIND_SPEC] = "myriad plan",         [MYR_KIND_LAYOUT] = "myriad goodput --layout",
    [MYR_KIND_MODEL] = "myriad fit --model", [MYR_KIND_JOB] = "myriad submit",
    [MYR_KIND_SCENARIO] = "myriad twin run", [MYR_KIND_CASE] = "myriad twin replay",
    [MYR_KIND_SWEEP] = "myriad sim sweep",   [MYR_KIND_PROFILE] = "myriad fit --profile",
    [MYR_KIND_STATE] = "myriad whatif",      [MYR_KIND_SAVED] = "myriad sim resume",
};

/* "YAML with the keys 'a', 'b'" */
static void put_document(const char *what, const struct kind_keys *keys,
                         char ret[MYR_KIND_WORDS_MAX])
{
    size_t len = (size_t)snprintf(ret, MYR_KIND_WORDS_MAX, "%s", what);
    for (uint32_t i = 0; i < keys->count && i < SHOWN_KEYS; i++) {
        const char *lead = i > 0 ? ", " : keys->count > 1 ? " with the keys " : " with the key ";
        char excerpt[MYR_EXCERPT_MAX];
        int more = snprintf(ret + len, MYR_KIND_WORDS_MAX - len, "%s'%.40s'", lead,
                            myr_text_excerpt(keys->items[i], excerpt));
        len += more > 0 && len + (size_t)more < MYR_KIND_WORDS_MAX ? (size_t)more : 0;
    }
}

static const char *put_words(const struct kind_look *look, char ret[MYR_KIND_WORDS_MAX])
{
    char excerpt[MYR_EXCERPT_MAX];
    MYR_ASSERT(look->kind < MYR_KIND_COUNT && (look->other || names[look->kind]));
    switch (look->kind) {
    case MYR_KIND_CSV:
        snprintf(ret, MYR_KIND_WORDS_MAX, "%s with the header '%s'", names[look->kind],
                 myr_text_excerpt(look->line, excerpt));
        break;
    case MYR_KIND_JSON:
    case MYR_KIND_YAML:
        put_document(names[look->kind], &look->keys, ret);
        break;
    case MYR_KIND_SECRET:
        snprintf(ret, MYR_KIND_WORDS_MAX, "%s",
                 look->pem ? "a certificate or a key" : names[look->kind]);
        break;
    case MYR_KIND_ANSWER:
        snprintf(ret, MYR_KIND_WORDS_MAX, "%s (%s)", names[look->kind],
                 myr_text_excerpt(kind_value(&look->keys, "schema"), excerpt));
        break;
    default:
        snprintf(ret, MYR_KIND_WORDS_MAX, "%s",
                 look->other ? look->other->words : names[look->kind]);
    }
    return ret;
}

const char *myr_kind_words(struct myr_str text, char ret[MYR_KIND_WORDS_MAX])
{
    struct kind_look look;
    kind_look(text, &look);
    return put_words(&look, ret);
}

/* As it would be typed; FILE for what cannot be typed as it is, and for what came from a pipe. */
static const char *typed(const char *file)
{
    bool plain = file[0] && file[0] != '-' && strcmp(file, myr_file_name("-")) != 0;
    for (const char *c = file; *c; c++) {
        plain = plain && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || strchr("._-/+,:@%", *c));
    }
    return plain ? file : "FILE";
}

static void put_hint(const struct kind_look *look, const char *file, struct myr_err *err)
{
    const char *hint = look->other ? look->other->hint : hints[look->kind];
    if (hint) {
        myr_err_hint(err, "%s", hint);
    } else if (!look->other && takers[look->kind]) {
        myr_err_hint(err, "%s %s", takers[look->kind], typed(file));
    }
}

/* What is nothing in particular passes: the reader knows better what is wrong with it. */
int myr_kind_check(const char *file, struct myr_str text, uint64_t wanted, const char *expected,
                   struct myr_err *err)
{
    char words[MYR_KIND_WORDS_MAX];
    struct kind_look look;
    /* What is wrong is the whole file: its first character stands for it. */
    struct text_place start = {1, 1};
    kind_look(text, &look);
    if (kind_is_open(look.kind) && secret_is_name(file)) {
        look.kind = MYR_KIND_SECRET; /* its reader would quote from it */
    }
    if (look.kind == MYR_KIND_TEXT || (wanted & UINT64_C(1) << look.kind)) {
        return MYR_OK;
    }
    if (look.kind == MYR_KIND_EMPTY) {
        return text_error_at(err, file, start, MYR_EINVAL, "the file is empty, %s is expected",
                             expected);
    }
    /* Whoever gives another file for a secret one may have given another secret: no content. */
    int rc = text_error_at(err, file, start, MYR_EINVAL, "looks like %s; %s is expected",
                           wanted & MYR_KIND_BIT(SECRET) && !look.other ? names[look.kind]
                                                                        : put_words(&look, words),
                           expected);
    put_hint(&look, file, err);
    return rc;
}

/* Until there is enough to look at, or no more. */
static int read_beginning(struct myr_infile *file, uint64_t wanted, const char *expected,
                          struct myr_buf *ret, struct myr_err *err)
{
    int more = 1;
    while (more > 0 && ret->len < KIND_LOOK_BYTES) {
        more = myr_infile_read(file, KIND_LOOK_BYTES, ret, err);
    }
    MYR_TRY(more);
    struct myr_str text = {ret->len ? ret->data : "", ret->len};
    return myr_kind_check(myr_file_name(file->path), text, wanted, expected, err);
}

int myr_kind_open(struct myr_infile *ret, const char *path, uint64_t wanted, const char *expected,
                  struct myr_buf *ret_first, struct myr_err *err)
{
    MYR_CLEANUP(myr_infile_close) struct myr_infile file = {.fd = -1};
    MYR_TRY(myr_infile_open(&file, path, err));
    myr_buf_clear(ret_first);
    MYR_TRY(read_beginning(&file, wanted, expected, ret_first, err));
    *ret = file;
    file.fd = -1;
    return MYR_OK;
}

int myr_kind_read(const char *path, size_t limit, uint64_t wanted, const char *expected,
                  struct myr_buf *ret, struct myr_err *err)
{
    /* Read piece by piece: the limit is noticed before the whole file is in memory. */
    enum { PIECE_BYTES = 64 * 1024 };
    MYR_CLEANUP(myr_infile_close) struct myr_infile file = {.fd = -1};
    MYR_TRY(myr_kind_open(&file, path, wanted, expected, ret, err));
    for (int more = 1; more > 0;) {
        if (ret->len > limit) {
            return myr_err_set(err, MYR_ERANGE, "%s: larger than %zu bytes, the most allowed here",
                               myr_file_name(path), limit);
        }
        more = myr_infile_read(&file, PIECE_BYTES, ret, err);
        MYR_TRY(more);
    }
    return MYR_OK;
}
