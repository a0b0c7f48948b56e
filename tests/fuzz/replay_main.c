/* Runs a fuzzer over files and folders of files, where libFuzzer is not linked in. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

enum { INPUT_BYTES_MAX = 64 << 20 };

static int replay_file(const char *path)
{
    struct myr_buf text = {0};
    struct myr_err err;
    if (myr_file_read(path, INPUT_BYTES_MAX, &text, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 0;
    }
    /* A copy of the exact size, so that a sanitizer sees a read past the end. */
    uint8_t *bytes = malloc(text.len > 0 ? text.len : 1);
    MYR_ASSERT(bytes);
    memcpy(bytes, text.data, text.len);
    LLVMFuzzerTestOneInput(bytes, text.len);
    free(bytes);
    myr_buf_done(&text);
    return 1;
}

static int replay_folder(DIR *folder, const char *path)
{
    int count = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char name[4096];
        int len = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && len > 0 && (size_t)len < sizeof(name)) {
            count += replay_file(name);
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        count += folder ? replay_folder(folder, argv[i]) : replay_file(argv[i]);
        if (folder) {
            closedir(folder);
        }
    }
    printf("%d inputs replayed\n", count);
    return count > 0 ? 0 : 1; /* an empty corpus is a mistake in the build */
}
