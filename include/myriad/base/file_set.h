/*
 * file_set: several files that belong together, such as a design and its cable list.
 *
 *     struct myr_file_set set;
 *     rc = myr_file_set_begin(&set, "out/10k", &err);      the folder is made
 *     rc = myr_file_set_add(&set, "bom.csv", &text, &err);
 *     rc = myr_file_set_open(&set, "design.myr", &file, &err);   or row by row, as an outfile
 *     rc = myr_outfile_commit(&file, &err);
 *     rc = myr_file_set_commit(&set, &err);
 *     myr_file_set_abandon(&set);                           always; nothing after commit
 *
 * Everything is written and synced under temporary names first; then the names are taken, in the
 * order in which the files were added. So a full disk, a wrong path or Ctrl-C leaves the folder as
 * it was, and the file that others look for (design.myr) goes last: who sees it sees the rest. A
 * crash between two renames leaves new files before old ones, never half a file. Files that the set
 * does not name are not touched. A device or a FIFO among the names cannot wait: it has its text at
 * once. Names are copied.
 */
#pragma once

#include "myriad/base/file.h"
#include "myriad/base/vec.h"

struct myr_set_file {
    char *path;   /* as it was given */
    char *temp;   /* empty: a device or a FIFO, which has its text already */
    char *target; /* what takes the text: 'path' with links followed */
};

struct myr_file_set {
    bool open;
    char *folder; /* NULL: names are paths */
    MYR_VEC(struct myr_set_file) files;
    MYR_VEC(char *) made; /* folders, parents first */
    struct myr_signal_hold hold;
};

/* 'folder' NULL: every name is a path of its own. */
MYR_MUST_USE int myr_file_set_begin(struct myr_file_set *set, const char *folder,
                                    struct myr_err *err);
/* One whole file. A name may have folders in front, which are made. */
MYR_MUST_USE int myr_file_set_add(struct myr_file_set *set, const char *name,
                                  const struct myr_buf *text, struct myr_err *err);
/* One whole file in a folder, which is made, of a set whose names are paths. */
MYR_MUST_USE int myr_file_set_add_in(struct myr_file_set *set, const char *folder, const char *name,
                                     const struct myr_buf *text, struct myr_err *err);
/* One file to be written piece by piece and committed; its name is taken with the others. */
MYR_MUST_USE int myr_file_set_open(struct myr_file_set *set, const char *name,
                                   struct myr_outfile *file, struct myr_err *err);
MYR_MUST_USE int myr_file_set_commit(struct myr_file_set *set, struct myr_err *err);
/* Removes what was not committed, also folders that the set made. Accepts a zeroed struct. */
void myr_file_set_abandon(struct myr_file_set *set);
