#include "myriad/plan.h"

/*
 * One device of a design: its ports, what they are cabled to, and with what. Ports that are free
 * are listed as well, with nulls.
 */

static void put_name(struct myr_answer *answer, const char *key, const struct myr_design *design,
                     uint32_t device)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_name(design, device, &name);
    myr_answer_str(answer, key, (struct myr_str){name.data, name.len});
}

static void put_port_name(struct myr_answer *answer, const char *key,
                          const struct myr_design *design, uint32_t port)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_port_name(design, port, &name);
    myr_answer_str(answer, key, (struct myr_str){name.data, name.len});
}

/* Links are named as in questions and answers: link/ and eight digits, by their id. */
static void put_port(struct myr_answer *answer, const struct myr_design *design, uint32_t port)
{
    uint32_t link = design->port_link[port];
    myr_answer_object(answer, NULL);
    put_port_name(answer, "port", design, port);
    myr_answer_u64(answer, "gbps", myr_design_port_group(design, port)->gbps);
    if (link == MYR_NONE) {
        /* A free port has the same keys, so that rows of the table line up. */
        static const char *const keys[] = {"to", "to_port", "link", "cable", "part"};
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
            myr_answer_null(answer, keys[i]);
        }
    } else {
        uint32_t peer = myr_design_peer(design, port), cable = design->link_cable[link];
        const struct myr_cabletype *type = &design->cabletypes[design->cable_type[cable]];
        put_name(answer, "to", design, design->port_device[peer]);
        put_port_name(answer, "to_port", design, peer);
        myr_answer_text(
            answer, "link",
            myr_arena_printf(answer->arena, "link/%08u", myr_design_link_id(design, link)));
        myr_answer_u64(answer, "cable", myr_design_cable_id(design, cable));
        myr_answer_text(answer, "part", myr_design_str(design, type->part));
    }
    myr_answer_end(answer);
}

/* 'ret_ports' is the list of ports, of which the page makes a table. */
int myr_plan_device(const struct myr_design *design, const char *name, struct myr_answer *answer,
                    const struct myr_value **ret_ports, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("port", "PORT", 0), MYR_COLUMN("gbps", "Gb/s", MYR_COLUMN_NUMBER),
        MYR_COLUMN("to", "TO", 0),     MYR_COLUMN("to_port", "TO PORT", 0),
        MYR_COLUMN("link", "LINK", 0), MYR_COLUMN("cable", "CABLE", MYR_COLUMN_NUMBER),
        MYR_COLUMN("part", "PART", 0),
    };
    uint32_t device = myr_design_find(design, myr_str_from(name));
    if (device == MYR_NONE) {
        /* Names follow from places, so examples show how they are made. */
        int rc = myr_err_set(err, MYR_ENOENT, "no device '%.60s' in this design", name);
        myr_err_hint(err, "names look like node/00042, leaf/p2-g1-r5, spine/p2-3, core/g4-17");
        return rc;
    }
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    myr_answer_object(answer, "device");
    put_name(answer, "name", design, device);
    myr_answer_text(answer, "part", myr_design_str(design, type->part));
    *ret_ports = myr_answer_list(answer, "ports");
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        put_port(answer, design, p);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
    myr_answer_table(answer, *ret_ports, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}
