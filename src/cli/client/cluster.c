/*
 * queue, usage, inject: the cluster as a whole. Each is one question, and a table over the list
 * that the server answers with.
 */
#include "client/client.h"
#include "myriad/text/json.h"

static const struct myr_command queue_command = {
    .name = "queue",
    .operands = "",
    .summary = "list the jobs that wait, and what each waits for",
    .details = "CSV output lists the jobs.",
    .example = "myriad queue",
    CLIENT_NO_OPTIONS,
};

/* As the server lists them, each with its own reason. */
static int queue_run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        {"id", "ID", MYR_COLUMN_NUMBER, 0},
        {"name", "NAME", 0, 0},
        {"tenant", "TENANT", 0, 0},
        {"gpus", "GPUS", MYR_COLUMN_NUMBER, 0},
        {"priority", "PRIORITY", MYR_COLUMN_NUMBER, 0},
        {"waited_s", "WAITED s", MYR_COLUMN_NUMBER, 0},
        {"starts_in_s", "STARTS IN s", MYR_COLUMN_NUMBER, 0},
        {"starts_low_s", "BETWEEN s", MYR_COLUMN_NUMBER, 0},
        {"starts_high_s", "AND s", MYR_COLUMN_NUMBER, 0},
        {"reason", "WAITS FOR", 0, 0},
    };
    const struct myr_doc *doc;
    struct myr_value *queue;
    MYR_TRY(client_ask(cli, "GET", "/v1/queue", (struct myr_str){}, &doc, err));
    MYR_TRY(client_put_list(cli, doc, "queue", &queue, err));
    myr_answer_table(&cli->answer, queue, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_queue_verb = {&queue_command, queue_run, .group = CLI_RUN_GROUP};

static const struct myr_command usage_command = {
    .name = "usage",
    .operands = "",
    .summary = "show GPU-hours, energy and cost by tenant",
    .details = "Energy and cost follow from 'power' in the server's configuration. CSV output "
               "lists the tenants.",
    .example = "myriad usage",
    CLIENT_NO_OPTIONS,
};

/* What the cost rests on stands at the top; a server that does not say it leaves null there. */
static int usage_run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        {"name", "TENANT", 0, 0},
        {"weight", "WEIGHT", MYR_COLUMN_NUMBER, 0},
        {"running_gpus", "RUNNING GPUS", MYR_COLUMN_NUMBER, 0},
        {"waiting_jobs", "WAITING JOBS", MYR_COLUMN_NUMBER, 0},
        {"gpu_hours", "GPU-HOURS", MYR_COLUMN_NUMBER, 2},
        {"kwh", "kWh", MYR_COLUMN_NUMBER, 1},
        {"cost", "COST", MYR_COLUMN_NUMBER, 2},
    };
    static const char *const keys[] = {"currency", "kw_per_gpu", "price_kwh"};
    const struct myr_doc *doc;
    struct myr_value *tenants;
    MYR_TRY(client_ask(cli, "GET", "/v1/usage", (struct myr_str){}, &doc, err));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        const struct myr_doc *value = myr_doc_get(doc, keys[i]);
        if (value) {
            client_put(cli, keys[i], value);
        } else {
            myr_answer_null(&cli->answer, keys[i]);
        }
    }
    MYR_TRY(client_put_list(cli, doc, "tenants", &tenants, err));
    myr_answer_table(&cli->answer, tenants, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_fact(&cli->answer, "cost", "in %s, at %s a kWh and %s kW a GPU",
                    client_text(cli, doc, "currency"), client_text(cli, doc, "price_kwh"),
                    client_text(cli, doc, "kw_per_gpu"));
    return MYR_OK;
}

const struct cli_verb cli_usage_verb = {&usage_command, usage_run, .group = CLI_RUN_GROUP};

static const struct myr_command inject_command = {
    .name = "inject",
    .operands = "NODE FAULT",
    .summary = "break something, where nodes are simulated",
    .details = "Taken by a server whose world is the twin, and by agents that make up their GPUs; "
               "a real cluster refuses it. The server says which faults there are. CSV output has "
               "one row.",
    .example = "myriad inject gpu-01 rank-crash",
    CLIENT_NO_OPTIONS,
    .operand_min = 2,
    .operand_max = 2,
};

/* Which faults there are only the server knows: the word goes there as it is. */
static int inject_run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    const struct myr_doc *doc;
    struct myr_json json;
    myr_json_init(&json, &body, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "node", cli->operands.items[0]);
    myr_json_text(&json, "fault", cli->operands.items[1]);
    myr_json_end(&json);
    MYR_TRY(
        client_ask(cli, "POST", "/v1/inject", (struct myr_str){body.data, body.len}, &doc, err));
    client_put_one(cli, doc, "faults");
    myr_answer_fact(&cli->answer, "injected", "%s on %s", client_text(cli, doc, "fault"),
                    client_text(cli, doc, "node"));
    myr_answer_next(&cli->answer, NULL, "myriad top%s", client_where(cli));
    return MYR_OK;
}

const struct cli_verb cli_inject_verb = {&inject_command, inject_run, .group = CLI_RUN_GROUP};
