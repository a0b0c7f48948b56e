/*
 * doctor, backup, restore: a server's folder on this machine. These read and write files and need
 * no server, whether it runs or not; only a backup asks one that runs for its store.
 */
#include "myriad/server/folder.h"

#include "client/client.h"
#include "myriad/agent/relay.h"

/* Of verbs that look at a folder and ask no server: without --server and its like. */
#define NO_OPTIONS                                                             \
    .defaults = &client_no_options, .values_bytes = sizeof(client_no_options), \
    .common = &cli_common_table

static const struct myr_command doctor_command = {
    .name = "doctor",
    .operands = "[DIR]",
    .summary = "look for what would keep a server from working",
    .details =
        "Looks at this machine, and at the folder of a server or relay where one is named: clock, "
        "limits, ports, rights, certificates, store, disk, users, cgroups, libraries. "
        "Nothing is changed. Exit status 1: something is bad. CSV output lists the checks.",
    .example = "myriad doctor lab",
    NO_OPTIONS,
    .operand_max = 1,
};

/* The same of a server's and of a relay's folder; no hint is null. */
static void put_finding(struct myr_answer *answer, uint32_t verdict, const char *check,
                        const char *says, const char *hint)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "verdict", myr_verdict_names[verdict]);
    myr_answer_text(answer, "check", check);
    myr_answer_text(answer, "says", says);
    myr_answer_text(answer, "hint", hint[0] ? hint : NULL);
    myr_answer_end(answer);
}

static int doctor_run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        {"verdict", "", 0, 0},
        {"check", "CHECK", 0, 0},
        {"says", "WHAT WAS FOUND", 0, 0},
        {"hint", "HINT", 0, 0},
    };
    struct myr_answer *answer = &cli->answer;
    struct myr_server_findings *found = myr_arena_alloc(&cli->arena, 1, sizeof(*found));
    /* By verdict: good, warning, bad. */
    uint32_t counts[3] = {};
    const char *folder = cli->operands.count ? cli->operands.items[0] : NULL;
    struct myr_relay_finding *relay =
        myr_arena_alloc(&cli->arena, MYR_RELAY_FINDINGS_MAX, sizeof(*relay));
    /* 0: the folder is no relay's. What is looked at of the machine is the same for both. */
    uint32_t of_relay = folder ? myr_relay_doctor(folder, relay) : 0;
    (void)err;
    myr_server_doctor(of_relay ? NULL : folder, found);
    struct myr_value *list = myr_answer_list(answer, "checks");
    for (uint32_t i = 0; i < found->count; i++) {
        const struct myr_server_finding *finding = &found->items[i];
        put_finding(answer, finding->verdict, finding->check, finding->says, finding->hint);
        counts[finding->verdict]++;
    }
    for (uint32_t i = 0; i < of_relay; i++) {
        put_finding(answer, relay[i].verdict, relay[i].check, relay[i].says, relay[i].hint);
        counts[relay[i].verdict]++;
    }
    myr_answer_end(answer);
    myr_answer_u64(answer, "warnings", counts[MYR_VERDICT_WARN]);
    myr_answer_u64(answer, "bad", counts[MYR_VERDICT_BAD]);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_fact(answer, "in all", "%s, %s, %s bad", MYR_COUNT(found->count + of_relay, "check"),
                    MYR_COUNT(counts[MYR_VERDICT_WARN], "warning"),
                    MYR_GROUPED(counts[MYR_VERDICT_BAD]));
    cli->no = counts[MYR_VERDICT_BAD] > 0;
    return MYR_OK;
}

const struct cli_verb cli_doctor_verb = {&doctor_command, doctor_run, .group = CLI_RUN_GROUP};

/* Of backup and restore alike: both have read the store back before they say so. */
static void put_copied(struct cli *cli, const char *to, const struct myr_server_copied *copied)
{
    struct myr_answer *answer = &cli->answer;
    struct myr_value *list = myr_answer_list(answer, "copies");
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "folder", to);
    myr_answer_u64(answer, "files", copied->files);
    myr_answer_u64(answer, "bytes", copied->bytes);
    myr_answer_u64(answer, "keys", copied->keys);
    myr_answer_bool(answer, "live", copied->live);
    myr_answer_end(answer);
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_fact(answer, "copied", "%s, %s, into %s", MYR_COUNT(copied->files, "file"),
                    MYR_COUNT(copied->bytes, "byte"), to);
    myr_answer_fact(answer, "store", "%s%s, read back", MYR_COUNT(copied->keys, "key"),
                    copied->live ? " of the running server" : "");
}

/* The token of the first administrator, where its file is no longer in the folder. */
struct backup_options {
    const char *token_file;
};
static const struct backup_options backup_defaults = {};

static const struct myr_option backup_rows[] = {
    CLI_PATH("admin-token", "FILE", struct backup_options, token_file,
             "an administrator's token, where DIR/admin.token is not there any more"),
};

static const struct myr_command backup_command = {
    .name = "backup",
    .operands = "DIR TO",
    .summary = "copy a server's folder, while it runs or not",
    .details = "TO is a new folder with the configuration, the certificates and their keys, and "
               "the store; keep it as secret as DIR. A server that runs gives a consistent copy "
               "of its store and goes on. CSV output has one row.",
    .example = "myriad backup lab lab-monday",
    CLI_OPTIONS(backup_rows, backup_defaults),
    .operand_min = 2,
    .operand_max = 2,
};

static int backup_run(struct cli *cli, struct myr_err *err)
{
    const struct backup_options *options = cli->options;
    const char *to = cli->operands.items[1];
    struct myr_server_copied copied;
    MYR_TRY(myr_server_backup(&(struct myr_server_copy){.folder = cli->operands.items[0],
                                                        .to = to,
                                                        .token_file = options->token_file},
                              &copied, err));
    put_copied(cli, to, &copied);
    return MYR_OK;
}

const struct cli_verb cli_backup_verb = {&backup_command, backup_run, .group = CLI_RUN_GROUP};

static const struct myr_command restore_command = {
    .name = "restore",
    .operands = "FROM DIR",
    .summary = "make a server's folder from a backup",
    .details = "DIR must be empty or not there. Stop the server that had the folder before: two "
               "that believe to have the same nodes would fight. CSV output has one row.",
    .example = "myriad restore lab-monday lab2",
    NO_OPTIONS,
    .operand_min = 2,
    .operand_max = 2,
};

static int restore_run(struct cli *cli, struct myr_err *err)
{
    const char *to = cli->operands.items[1];
    struct myr_server_copied copied;
    MYR_TRY(myr_server_restore(
        &(struct myr_server_copy){.folder = cli->operands.items[0], .to = to}, &copied, err));
    put_copied(cli, to, &copied);
    myr_answer_next(&cli->answer, NULL, "myriad serve %s", myr_answer_word(&cli->answer, to));
    return MYR_OK;
}

const struct cli_verb cli_restore_verb = {&restore_command, restore_run, .group = CLI_RUN_GROUP};
