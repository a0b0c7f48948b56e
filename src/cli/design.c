#include <stdio.h>

#include "cli.h"
#include "myriad/plan.h"

static struct {
    uint32_t format;
    const char *find;
} options = {.format = MYR_FORMAT_TABLE};

const struct myr_command *cli_design_command(void)
{
    static const struct myr_option rows[] = {
        CLI_OUTPUT_OPTION(options.format),
        {.name = "device",
         .type = MYR_OPTION_TEXT,
         .value = "NAME",
         .help = "show the ports of one device and what they are cabled to",
         .target = &options.find},
    };
    static const struct myr_command command = {
        .name = "design",
        .operands = "DESIGN",
        .summary = "check a design file and show what is in it",
        .details = "Maps a design.myr, checks all of it and prints the plan again, or one device "
                   "with its cabling.",
        .example = "myriad design out/h100-64/design.myr --device leaf/p0-g1-r5",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 1,
        .operand_max = 1,
    };
    return &command;
}

static void put_name(struct myr_table *table, const struct myr_design *design, uint32_t device)
{
    struct myr_buf buf = {0};
    myr_design_name(design, device, &buf);
    myr_table_str(table,
                  (struct myr_str){myr_arena_strndup(table->arena, buf.data, buf.len), buf.len});
    myr_buf_done(&buf);
}

static void put_port(struct myr_table *table, const struct myr_design *design, uint32_t port)
{
    struct myr_buf buf = {0};
    myr_design_port_name(design, port, &buf);
    myr_table_str(table,
                  (struct myr_str){myr_arena_strndup(table->arena, buf.data, buf.len), buf.len});
    myr_buf_done(&buf);
}

static void device_ports(const struct myr_design *design, uint32_t device, struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"port", "PORT", 0}, {"gbps", "Gb/s", MYR_COLUMN_NUMBER},
        {"to", "TO", 0},     {"to_port", "TO PORT", 0},
        {"link", "LINK", 0}, {"cable", "CABLE", MYR_COLUMN_NUMBER},
        {"part", "PART", 0},
    };
    struct myr_arena arena;
    struct myr_table table;
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        put_port(&table, design, p);
        myr_table_u64(&table, myr_design_port_group(design, p)->gbps);
        if (link == MYR_NONE) {
            for (uint32_t i = 0; i < 5; i++) {
                myr_table_text(&table, NULL);
            }
            continue;
        }
        uint32_t peer = myr_design_peer(design, p), cable = design->link_cable[link];
        put_name(&table, design, design->port_device[peer]);
        put_port(&table, design, peer);
        myr_table_text(&table, myr_arena_printf(&arena, "link/%08u", link));
        myr_table_u64(&table, cable);
        myr_table_text(&table,
                       myr_design_str(design, design->cabletypes[design->cable_type[cable]].part));
    }
    myr_table_write(&table, (enum myr_format)options.format, buf);
    myr_table_done(&table);
    myr_arena_done(&arena);
}

static int show(const struct myr_design *design, struct myr_buf *buf, struct myr_err *err)
{
    if (options.find) {
        uint32_t device = myr_design_find(design, myr_str_from(options.find));
        if (device == MYR_NONE) {
            int r = myr_err_set(err, MYR_ENOENT, "no device '%.60s' in this design", options.find);
            myr_err_hint(err, "names look like node/00042, leaf/p2-g1-r5, spine/p2-3, core/g4-17");
            return r;
        }
        device_ports(design, device, buf);
        return MYR_OK;
    }
    switch ((enum myr_format)options.format) {
    case MYR_FORMAT_JSON:
        myr_plan_json(design, buf);
        break;
    case MYR_FORMAT_YAML:
        myr_plan_yaml(design, buf);
        break;
    case MYR_FORMAT_TABLE:
        myr_plan_summary(design, buf);
        break;
    default:
        myr_plan_bom(design, (enum myr_format)options.format, buf);
        break;
    }
    return MYR_OK;
}

int cli_design(const struct myr_operands *operands)
{
    struct myr_design design = {0};
    struct myr_buf buf = {0};
    struct myr_err err = {0};
    int r = myr_design_open(&design, operands->items[0], &err);
    r = r < 0 ? r : show(&design, &buf, &err);
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    myr_design_close(&design);
    return code;
}
