#include "myriad/text.h"
#include "verify/verify.h"

/* What the page says of names: who is to be renamed, and who is not who was bound. */

enum { SHOWN_MAX = 100 };

/* Hosts are whatever their cables say: their names are put right, and no plug is moved for them. */
void verify_show_renamed(const struct myr_verify *verify, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    if (verify->renamed_count == 0) {
        return;
    }
    myr_answer_heading(answer, "Rename %s, then %s", MYR_COUNT(verify->renamed_count, "host"),
                       MYR_COUNT(verify->repair.moves, "move"));
    for (uint32_t i = 0; i < verify->renamed_count && i < SHOWN_MAX; i++) {
        const struct myr_renamed *row = &verify->renamed[i];
        myr_buf_clear(&name);
        myr_buf_put_lit(&name, "give ");
        verify_host_name(verify, row->found, &name);
        myr_buf_put_lit(&name, " the name ");
        myr_design_name(verify->design, row->is, &name);
        myr_answer_para(answer, "%s", name.data);
    }
    if (verify->renamed_count > SHOWN_MAX) {
        myr_answer_para(answer, "and %s more: -o json",
                        MYR_GROUPED(verify->renamed_count - SHOWN_MAX));
    }
    myr_answer_para(answer, "They have the cables of these; myriad bind --by-wiring lets the plan "
                            "know them by their own names instead.");
}

void verify_show_replaced(const struct myr_verify *verify, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (verify->replaced_count == 0) {
        return;
    }
    myr_answer_heading(answer, "Other devices than those that are bound");
    for (uint32_t i = 0; i < verify->replaced_count && i < SHOWN_MAX; i++) {
        myr_buf_clear(&text);
        myr_design_name(verify->design, verify->replaced[i].device, &text);
        myr_buf_put_lit(&text, " is ");
        verify_found_label(verify, verify->replaced[i].found, &text);
        myr_answer_para(answer, "%s", text.data);
    }
}

/* Devices that have each other's cables need no plug to be moved, but each other's names. */
void verify_show_renames(const struct myr_verify *verify, struct myr_answer *answer)
{
    const struct myr_design *design = verify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf other = {};
    if (verify->relabel_devices == 0) {
        return;
    }
    myr_answer_heading(answer, "Rename %s, then %s", MYR_COUNT(verify->relabel_devices, "device"),
                       MYR_COUNT(verify->relabel_moves, "move"));
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (verify->renames[d] != MYR_NONE) {
            myr_buf_clear(&name);
            myr_buf_clear(&other);
            myr_design_name(design, d, &name);
            myr_design_name(design, verify->renames[d], &other);
            myr_answer_para(answer, "give %s the name %s", name.data, other.data);
        }
    }
}

/* Where hosts call their NICs in another order than the plan has them, on all of them. */
bool verify_is_against_order(const struct myr_verify *verify)
{
    for (uint32_t i = 0; i < verify->assumed_count; i++) {
        if (verify->assumed[i].against_order) {
            return true;
        }
    }
    return false;
}
