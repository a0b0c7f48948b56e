#include "myriad/site/binding.h"
#include "myriad/text.h"
#include "verify/verify.h"

/* A binding and what was met on the way to it, for people and programs. */

/* What people should know: one sentence each. */
static void put_sentences(const struct myr_binding *binding, const struct myr_discovery *found,
                          void *context, void (*say)(void *context, const char *sentence))
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_printf(&text, "%s bound, %s in all", MYR_COUNT(found->bound, "place"),
                   MYR_GROUPED(binding->rows.count));
    say(context, text.data);
    /* Of what is called as in the design a binding has nothing to say but numbers of its own. */
    if (binding->rows.count == 0 && found->unknown + found->contradicted == 0) {
        myr_buf_clear(&text);
        myr_buf_puts(&text, found->devices ? "nothing to bind: names are the design's own, without "
                                             "GUIDs or MAC addresses"
                                           : "nothing to bind: no device was found");
        say(context, text.data);
    }
    uint32_t unknown = found->unknown - found->by_cable;
    uint32_t by_cable = found->by_cable + found->by_cable_ports;
    if (unknown) {
        myr_buf_clear(&text);
        myr_buf_printf(&text, "%s %s unknown: no name and no cable tells what %s",
                       MYR_COUNT(unknown, "found device"), unknown == 1 ? "is" : "are",
                       unknown == 1 ? "it is" : "they are");
        say(context, text.data);
    }
    if (by_cable) {
        myr_buf_clear(&text);
        myr_buf_printf(&text,
                       "%s left out: nothing but %s own cable says which one it is (--by-wiring "
                       "binds what the %s)",
                       MYR_COUNT(by_cable, "NIC"), by_cable == 1 ? "its" : "each one's",
                       by_cable == 1 ? "cable says" : "cables say");
        say(context, text.data);
    }
    /* A binding is kept for years: what it rests on stands in it. */
    if (found->verify->assumed_count) {
        myr_buf_clear(&text);
        verify_assumed_text(found->verify, &text);
        say(context, text.data);
    }
    /* A name and the cables that disagree are left to a person. */
    if (found->contradicted) {
        myr_buf_clear(&text);
        myr_buf_printf(&text,
                       "%s left out: %s the cables of another device (myriad "
                       "verify shows them; --by-wiring binds what the cables say)",
                       MYR_COUNT(found->contradicted, "device"),
                       found->contradicted == 1 ? "it has" : "they have");
        say(context, text.data);
    }
    /* One example is enough to begin with. */
    if (found->conflicts) {
        myr_buf_clear(&text);
        myr_buf_printf(&text, "%s %s bound otherwise already and left; the first is ",
                       MYR_COUNT(found->conflicts, "place"), found->conflicts == 1 ? "is" : "are");
        myr_design_name(binding->design, binding->rows.items[found->conflict_row].device, &text);
        say(context, text.data);
    }
}

static void say_remark(void *context, const char *sentence)
{
    myr_buf_printf(context, "# %s\n", sentence);
}

void myr_discovery_remarks(const struct myr_binding *binding, const struct myr_discovery *found,
                           struct myr_buf *buf)
{
    put_sentences(binding, found, buf, say_remark);
}

static void say_para(void *context, const char *sentence)
{
    myr_answer_para(context, "%s", sentence);
}

/* Zero is "not known": the key stays, with no value, so that every row has the same keys. */
static void put_guid(struct myr_answer *answer, const char *key, uint64_t guid)
{
    myr_answer_text(answer, key,
                    guid ? myr_arena_printf(answer->arena, "0x%016llx", (unsigned long long)guid)
                         : NULL);
}

static void put_text(struct myr_answer *answer, const char *key, struct myr_str text)
{
    if (text.len) {
        myr_answer_str(answer, key, text);
    } else {
        myr_answer_null(answer, key);
    }
}

/* The spelling with colons, whichever one was read. */
static const char *mac_text(struct myr_arena *arena, uint64_t mac)
{
    return myr_arena_printf(arena, "%02x:%02x:%02x:%02x:%02x:%02x", (unsigned)(mac >> 40 & 255),
                            (unsigned)(mac >> 32 & 255), (unsigned)(mac >> 24 & 255),
                            (unsigned)(mac >> 16 & 255), (unsigned)(mac >> 8 & 255),
                            (unsigned)(mac & 255));
}

#define ROW_KEYS "device port guid port_guid mac serial host address name ifindex"

/* Every key is there in every row; what is not known is null. */
static void put_row(const struct myr_binding *binding, const struct myr_bound *row,
                    struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_answer_object(answer, NULL);
    myr_design_name(binding->design, row->device, &name);
    myr_answer_str(answer, "device", (struct myr_str){name.data, name.len});
    myr_buf_clear(&name);
    /* A row without a port is of the whole device. */
    if (row->port != MYR_NONE) {
        myr_design_port_name(binding->design, row->port, &name);
    }
    put_text(answer, "port", (struct myr_str){name.data, name.len});
    put_guid(answer, "guid", row->guid);
    put_guid(answer, "port_guid", row->port_guid);
    myr_answer_text(answer, "mac", row->mac ? mac_text(answer->arena, row->mac) : NULL);
    put_text(answer, "serial", row->serial);
    put_text(answer, "host", row->host);
    put_text(answer, "address", row->address);
    put_text(answer, "name", row->name);
    if (row->ifindex) {
        myr_answer_u64(answer, "ifindex", row->ifindex);
    } else {
        myr_answer_null(answer, "ifindex");
    }
    myr_answer_end(answer);
}

/* Returns the list of rows, for output as a table. In design order, as the file is written. */
const struct myr_value *myr_binding_answer(const struct myr_binding *binding,
                                           const struct myr_discovery *found,
                                           struct myr_answer *answer)
{
    MYR_CLEANUP(myr_free_at) const struct myr_bound **rows = myr_binding_sorted(binding);
    myr_answer_text(answer, "design", myr_design_str(binding->design, binding->design->head->name));
    myr_answer_u64(answer, "bound", found->bound);
    myr_answer_u64(answer, "unknown", found->unknown);
    myr_answer_u64(answer, "contradicted", found->contradicted);
    myr_answer_u64(answer, "conflicts", found->conflicts);
    verify_put_assumed(found->verify, answer);
    const struct myr_value *list = myr_answer_list(answer, "rows");
    myr_answer_header(answer, ROW_KEYS);
    for (size_t i = 0; i < binding->rows.count; i++) {
        put_row(binding, rows[i], answer);
    }
    myr_answer_end(answer);
    /* The same sentences stand as remarks above the file. */
    put_sentences(binding, found, answer, say_para);
    return list;
}
