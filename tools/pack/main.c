/*
 * myriad-pack SYMBOL ROOT OUTPUT FILE...: YAML files below ROOT as a C source of packed documents.
 * A tool of the build (cmake/embed.cmake): what the program carries with it is read here, and a
 * mistake in it ends the build with its place.
 */
#include <stdio.h>

#include "myriad/text/doc.h"

enum { FIRST = 4, BYTES_A_LINE = 20 };

static int put_file(struct myr_buf *source, const char *root, const char *name, int index,
                    struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf packed = {};
    const struct myr_doc *doc;
    MYR_TRY(myr_doc_read_file(&arena, myr_arena_printf(&arena, "%s/%s", root, name), &doc, err));
    myr_doc_pack(doc, &packed);
    myr_buf_printf(source, "static const unsigned char data_%d[] = {", index);
    for (size_t i = 0; i < packed.len; i++) {
        myr_buf_puts(source, i % BYTES_A_LINE == 0 ? "\n" : "");
        myr_buf_put_u64(source, (unsigned char)packed.data[i]);
        myr_buf_putc(source, ',');
    }
    myr_buf_puts(source, "};\n");
    return MYR_OK;
}

static int pack(const char *symbol, const char *root, const char *output, char *const *names,
                int count, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf source = {};
    myr_buf_printf(&source, "#include <%s.h>\n\n", symbol);
    for (int i = 0; i < count; i++) {
        MYR_TRY(put_file(&source, root, names[i], i, err));
    }
    myr_buf_printf(&source, "\nconst struct myr_embedded %s[] = {\n", symbol);
    for (int i = 0; i < count; i++) {
        myr_buf_printf(&source, "    {\"%s\", data_%d, sizeof(data_%d)},\n", names[i], i, i);
    }
    myr_buf_printf(&source, "};\nconst size_t %s_count = %d;\n", symbol, count);
    return myr_file_write(output, &source, err);
}

int main(int argc, char **argv)
{
    struct myr_err err = {};
    if (argc <= FIRST) {
        fprintf(stderr, "usage: myriad-pack SYMBOL ROOT OUTPUT FILE...\n");
        return 2;
    }
    if (pack(argv[1], argv[2], argv[3], argv + FIRST, argc - FIRST, &err) < 0) {
        fprintf(stderr, "myriad-pack: %s\n", err.message);
        return 1;
    }
    return 0;
}
