#include "myriad/model/design_file.h"
#include "myriad/model/ids.h"
#include "myriad/model/stretch.h"

#include "myriad/text/json.h"

/*
 * The design as JSON for other programs. Devices and links are written one object a line by hand:
 * there are hundreds of thousands, and nothing in them needs escaping.
 */

/* A device without ports at the end of the list has a first port behind the last one. */
static uint32_t first_port_id(const struct myr_design *design, uint32_t device)
{
    uint32_t port = design->first_port[device];
    return design->port_id && port < design->port_count ? design->port_id[port] : port;
}

/* Drained device by device, so that memory does not grow with the design. */
static void put_devices(const struct myr_design *design, struct myr_outfile *file,
                        struct myr_buf *buf)
{
    myr_buf_put_lit(buf, ",\n\"devices\": [");
    for (uint32_t i = 0; i < design->device_count; i++) {
        const struct myr_devtype *type = &design->devtypes[design->device_type[i]];
        myr_buf_puts(buf, i ? ",\n{\"id\":" : "\n{\"id\":");
        myr_buf_put_u64(buf, myr_design_device_id(design, i));
        myr_buf_put_lit(buf, ",\"name\":\"");
        myr_design_name(design, i, buf);
        myr_buf_put_lit(buf, "\",\"part\":");
        myr_json_quote(buf, myr_str_from(myr_design_str(design, type->part)));
        myr_buf_put_lit(buf, ",\"first_port\":");
        myr_buf_put_u64(buf, first_port_id(design, i));
        myr_buf_put_lit(buf, ",\"ports\":");
        myr_buf_put_u64(buf, type->port_count);
        myr_buf_putc(buf, '}');
        myr_outfile_drain(file, buf);
    }
    myr_buf_put_lit(buf, "\n]");
}

/* 'side' is a or b; names hold nothing that needs escaping. */
static void put_port(const struct myr_design *design, struct myr_buf *buf, char side, uint32_t port)
{
    myr_buf_put_lit(buf, ",\"");
    myr_buf_putc(buf, side);
    myr_buf_put_lit(buf, "\":\"");
    myr_design_name(design, design->port_device[port], buf);
    myr_buf_put_lit(buf, "\",\"");
    myr_buf_putc(buf, side);
    myr_buf_put_lit(buf, "_port\":\"");
    myr_design_port_name(design, port, buf);
    myr_buf_putc(buf, '"');
}

/* Ids go out, not positions: they survive growth. */
static void put_links(const struct myr_design *design, struct myr_outfile *file,
                      struct myr_buf *buf)
{
    myr_buf_put_lit(buf, ",\n\"links\": [");
    for (uint32_t i = 0; i < design->link_count; i++) {
        myr_buf_puts(buf, i ? ",\n{\"id\":" : "\n{\"id\":");
        myr_buf_put_u64(buf, myr_design_link_id(design, i));
        myr_buf_put_lit(buf, ",\"cable\":");
        myr_buf_put_u64(buf, myr_design_cable_id(design, design->link_cable[i]));
        myr_buf_put_lit(buf, ",\"type\":");
        myr_buf_put_u64(buf, design->cable_type[design->link_cable[i]]);
        put_port(design, buf, 'a', design->link_a[i]);
        put_port(design, buf, 'b', design->link_b[i]);
        myr_buf_putc(buf, '}');
        myr_outfile_drain(file, buf);
    }
    myr_buf_put_lit(buf, "\n]");
}

static void put_cabletypes(const struct myr_design *design, struct myr_json *json)
{
    myr_json_list(json, "cable_types");
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        const struct myr_cabletype *type = &design->cabletypes[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "network", myr_net_names[type->net]);
        myr_json_text(json, "layer", myr_layer_names[type->layer]);
        myr_json_text(json, "part", myr_design_str(design, type->part));
        myr_json_text(json, "optic_a", myr_design_str(design, type->optic_a));
        myr_json_text(json, "optic_b", myr_design_str(design, type->optic_b));
        myr_json_u64(json, "gbps", type->gbps);
        myr_json_double(json, "length_m", type->length_mm / 1000.0, 3);
        myr_json_u64(json, "legs", type->legs);
        myr_json_end(json);
    }
    myr_json_end(json);
}

/* One node's parts and the links between them; all nodes are alike, or the list is empty. */
static void put_insides(const struct myr_design *design, struct myr_json *json)
{
    static const char *const kinds[MYR_INSIDE_KIND_COUNT] = {"numa", "pcie_switch",     "gpu",
                                                             "nic",  "scale_up_switch", "dpu"};
    myr_json_list(json, "node_parts");
    for (uint32_t i = 0; i < design->inside_count; i++) {
        const struct myr_inside *inside = &design->insides[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "kind", kinds[inside->kind]);
        myr_json_u64(json, "index", inside->index);
        myr_json_u64(json, "numa", inside->numa);
        /* Other parts of a node have no network: null. */
        bool on_net = inside->kind == MYR_INSIDE_NIC && inside->net < MYR_NET_COUNT;
        myr_json_text(json, "network", on_net ? myr_net_names[inside->net] : NULL);
        myr_json_end(json);
    }
    myr_json_end(json);
    myr_json_list(json, "node_links");
    for (uint32_t i = 0; i < design->inside_link_count; i++) {
        myr_json_object(json, NULL);
        myr_json_u64(json, "a", design->inside_links[i].a);
        myr_json_u64(json, "b", design->inside_links[i].b);
        myr_json_u64(json, "gbps", design->inside_links[i].gbps);
        myr_json_end(json);
    }
    myr_json_end(json);
}

/* Empty where all servers are of one kind; a group once for each stretch of its names. */
static void put_groups(const struct myr_design *design, struct myr_json *json)
{
    myr_json_list(json, "groups");
    for (uint32_t i = 0; i < design->group_count; i++) {
        const struct myr_server_group *group = &design->groups[i];
        for (uint32_t at = 0; at < group->nodes;) {
            struct myr_node_stretch stretch =
                myr_design_node_stretch(design, group->first_node + at, group->nodes - at);
            myr_json_object(json, NULL);
            myr_json_text(json, "name", myr_design_str(design, group->name));
            myr_json_text(json, "server", myr_design_str(design, group->server_part));
            myr_json_text(json, "gpu", myr_design_str(design, group->gpu_part));
            myr_json_u64(json, "first_node", stretch.number);
            myr_json_u64(json, "nodes", stretch.count);
            myr_json_u64(json, "gpus_per_node", group->gpus_per_node);
            myr_json_end(json);
            at += stretch.count;
        }
    }
    myr_json_end(json);
}

void myr_design_put_json(const struct myr_design *design, struct myr_outfile *file)
{
    /* Pretty for the small parts; the JSON writer's last brace is left open for the long lists. */
    const struct myr_design_head *head = design->head;
    struct myr_buf buf MYR_CLEANUP(myr_buf_done) = {};
    struct myr_json json;
    myr_json_init(&json, &buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_u64(&json, "version", MYR_DESIGN_VERSION);
    myr_json_text(&json, "name", myr_design_str(design, head->name));
    myr_json_u64(&json, "servers", head->servers);
    myr_json_u64(&json, "nodes", head->nodes);
    myr_json_u64(&json, "gpus", head->gpus);
    myr_json_u64(&json, "gpus_per_node", head->gpus_per_node);
    myr_json_u64(&json, "scale_up_gpus", head->scale_up_gpus);
    put_groups(design, &json);
    put_cabletypes(design, &json);
    put_insides(design, &json);
    /* The two long lists are put in front of the closing brace by hand. */
    put_devices(design, file, &buf);
    put_links(design, file, &buf);
    myr_buf_put_lit(&buf, "\n}\n");
    myr_outfile_write(file, buf.data, buf.len);
}
