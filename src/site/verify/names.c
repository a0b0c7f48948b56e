#include "hosts/hosts.h"
#include "myriad/text/amount.h"
#include "verify/verify.h"

/*
 * How devices, ports and steps are called in texts for people.
 */

/* The GUID where the source has no name. */
void verify_found_name(const struct myr_verify *verify, uint32_t found, struct myr_buf *buf)
{
    const struct myr_cabling_device *device = &verify->cabling->devices.items[found];
    if (device->name.len) {
        myr_buf_put(buf, device->name.data, device->name.len);
    } else {
        myr_buf_printf(buf, "0x%016llx", (unsigned long long)device->guid);
    }
}

/* Of one NIC the name of its host. */
void verify_host_name(const struct myr_verify *verify, uint32_t found, struct myr_buf *buf)
{
    struct myr_str host, nic;
    if (verify->cabling->numbered &&
        hosts_split(verify->cabling->devices.items[found].name, &host, &nic)) {
        myr_buf_put(buf, host.data, host.len);
    } else {
        verify_found_name(verify, found, buf);
    }
}

void verify_found_label(const struct myr_verify *verify, uint32_t found, struct myr_buf *buf)
{
    const struct myr_cabling_device *device = &verify->cabling->devices.items[found];
    verify_found_name(verify, found, buf);
    /* Without a name the GUID stands in its place already. */
    if (device->name.len && device->guid) {
        myr_buf_printf(buf, " 0x%016llx", (unsigned long long)device->guid);
    }
}

/* Device and port with a blank between; ends outside of the design as the source has them. */
void myr_verify_port_name(const struct myr_verify *verify, uint32_t vertex, struct myr_buf *buf)
{
    const struct myr_design *design = verify->design;
    if (!verify_is_foreign(verify, vertex)) {
        myr_design_name(design, design->port_device[vertex], buf);
        myr_buf_putc(buf, ' ');
        myr_design_port_name(design, vertex, buf);
        return;
    }
    struct myr_cabling_end end = verify->foreign[vertex - design->port_count];
    verify_found_name(verify, end.device, buf);
    myr_buf_putc(buf, ' ');
    myr_buf_put(buf, end.port.data, end.port.len);
}

/* Port names of one device are not repeated: "leaf/p0-g1-r5 17/1 and 17/2". */
static void put_pair(const struct myr_verify *verify, uint32_t a, uint32_t b, const char *word,
                     struct myr_buf *buf)
{
    const struct myr_design *design = verify->design;
    myr_verify_port_name(verify, a, buf);
    myr_buf_puts(buf, word);
    /* The same device: its name is there already. */
    if (!verify_is_foreign(verify, a) && !verify_is_foreign(verify, b) &&
        design->port_device[a] == design->port_device[b]) {
        myr_design_port_name(design, b, buf);
    } else {
        myr_verify_port_name(verify, b, buf);
    }
}

/* One sentence, with the other ends of the cables in brackets. */
void myr_verify_step_text(const struct myr_verify *verify, const struct myr_repair_step *step,
                          struct myr_buf *buf)
{
    const char *what = step->legs ? "head of the splitter" : "plug";
    switch ((enum myr_repair_op)step->op) {
    case MYR_REPAIR_SWAP:
        myr_buf_puts(buf, step->legs ? "exchange the heads of the splitters in "
                                     : "exchange the plugs in ");
        put_pair(verify, step->at, step->to, " and ", buf);
        myr_buf_put_lit(buf, " (their other ends: ");
        put_pair(verify, step->far_at, step->far_to, " and ", buf);
        myr_buf_putc(buf, ')');
        break;
    case MYR_REPAIR_MOVE:
        myr_buf_printf(buf, "move the %s from ", what);
        put_pair(verify, step->at, step->to, " to ", buf);
        myr_buf_put_lit(buf, " (its other end: ");
        myr_verify_port_name(verify, step->far_at, buf);
        myr_buf_putc(buf, ')');
        break;
    case MYR_REPAIR_ADD:
        myr_buf_put_lit(buf, "add a cable from ");
        put_pair(verify, step->at, step->to, " to ", buf);
        break;
    case MYR_REPAIR_REMOVE:
        myr_buf_put_lit(buf, "take out the cable from ");
        put_pair(verify, step->at, step->to, " to ", buf);
        break;
    case MYR_REPAIR_OP_COUNT:
        break;
    }
    if (step->unseen) {
        myr_buf_put_lit(buf, "; nobody looked at the new port: check that it is free");
    }
}

/* The weakest of the assumptions speaks for all. */
void verify_assumed_text(const struct myr_verify *verify, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    uint32_t least = UINT32_MAX, hosts = 0;
    for (uint32_t i = 0; i < verify->assumed_count; i++) {
        const struct myr_assumed *row = &verify->assumed[i];
        myr_buf_printf(&line, "%s%.*s is ", i ? ", " : "", (int)row->name.len, row->name.data);
        verify_assumed_port(verify, row, &line);
        least = row->votes < least ? row->votes : least;
        hosts = row->voters > hosts ? row->voters : hosts;
    }
    if (verify->assumed_count) {
        myr_buf_printf(buf, "assumed, as at least %s of %s %s: %s (--hca-map says it outright)",
                       MYR_GROUPED(least), MYR_COUNT(hosts, "host"),
                       hosts == 1 ? "agrees" : "agree", line.data);
    }
}

/* Any device of the type will do: they have the same ports. */
void verify_assumed_port(const struct myr_verify *verify, const struct myr_assumed *row,
                         struct myr_buf *buf)
{
    const struct myr_design *design = verify->design;
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (design->device_type[d] == row->type) {
            myr_design_port_name(design, design->first_port[d] + row->index, buf);
            return;
        }
    }
}
