/*
 * tenant set: whose share is how large. A tenant is made by naming it: there is nothing else to say
 * of one.
 */
#include "client/client.h"

struct tenant_options {
    uint64_t weight;
};
static const struct tenant_options tenant_defaults = {.weight = 1};

static const struct myr_option tenant_rows[] = {
    CLI_COUNT("weight", struct tenant_options, weight, 1, 1000000,
              "in the fair share: twice the weight is twice the GPUs, when all want more"),
};

static const struct myr_command tenant_set_command = {
    .name = "tenant set",
    .operands = "NAME",
    .summary = "say how large a tenant's share is",
    .details = "A tenant that nobody has named before is made. Shares count under the policies "
               "'fair' and 'preempt', from now on; 'myriad usage' shows them. CSV output has one "
               "row.",
    .example = "myriad tenant set research --weight 3 --dir lab",
    CLI_CLIENT_OPTIONS(tenant_rows, tenant_defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* A number needs no quoting: the body is put together by hand. */
static int tenant_set_run(struct cli *cli, struct myr_err *err)
{
    const struct tenant_options *options = cli->options;
    const struct myr_doc *doc;
    const char *path =
        myr_arena_printf(&cli->arena, "/v1/tenants/%s", client_word(cli, cli->operands.items[0]));
    const char *body =
        myr_arena_printf(&cli->arena, "{\"weight\":%llu}", (unsigned long long)options->weight);
    MYR_TRY(client_ask(cli, "POST", path, myr_str_from(body), &doc, err));
    client_put_one(cli, doc, "tenants");
    myr_answer_fact(&cli->answer, "tenant", "%s, weight %s", client_text(cli, doc, "name"),
                    client_text(cli, doc, "weight"));
    return MYR_OK;
}

const struct cli_verb cli_tenant_set_verb = {.row = &tenant_set_command, .run = tenant_set_run};

static const struct myr_command *const subcommands[] = {&tenant_set_command};

static const struct myr_command tenant_command = {
    .name = "tenant",
    .operands = "",
    .summary = "set the shares of those who pay",
    .example = "myriad tenant set research --weight 3 --dir lab",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_tenant_verb = {&tenant_command, NULL, .group = CLI_RUN_GROUP};
