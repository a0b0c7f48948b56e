/*
 * What words in a list mean, in English and in Chinese. The first row that is met counts. Words are
 * the last resort, where no part is known, and the only word on networks and tiers.
 */
#include "audit/audit.h"

/* A word, and what a text that has it means. */
struct word_row {
    const char *word;
    uint32_t value;
};

static bool is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Latin words stand alone; Chinese has no blanks, so there any place counts. */
bool audit_has_word(struct myr_str text, const char *word)
{
    size_t len = strlen(word);
    bool latin = is_letter(word[0]);
    for (size_t i = 0; len > 0 && i + len <= text.len; i++) {
        struct myr_str at = {text.data + i, len};
        /* "cable" is not in "cables": both stand in the tables. */
        bool whole = !latin || ((i == 0 || !is_letter(text.data[i - 1])) &&
                                (i + len == text.len || !is_letter(text.data[i + len])));
        if (whole && myr_str_eq_nocase(at, (struct myr_str){word, len})) {
            return true;
        }
    }
    return false;
}

/* Longer words come before the shorter ones that they contain, as the order of the rows decides. */
static bool find_row(struct myr_str text, const struct word_row *rows, size_t count, uint32_t *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (audit_has_word(text, rows[i].word)) {
            *ret = rows[i].value;
            return true;
        }
    }
    return false;
}

/* "storage system" and "storage servers" are the servers, not their network, so they come first. */
uint32_t audit_words_system(struct myr_str text)
{
    static const struct word_row rows[] = {
        {"storage system", AUDIT_NO_NET},
        {"存储系统", AUDIT_NO_NET},
        {"存储服务器", AUDIT_NO_NET},
        {"management nodes", AUDIT_NO_NET},
        {"management servers", AUDIT_NO_NET},
        {"security", AUDIT_NO_NET},
        {"安全", AUDIT_NO_NET},
        {"storage", MYR_NET_STORAGE},
        {"存储", MYR_NET_STORAGE},
        {"compute", MYR_NET_COMPUTE},
        {"backend", MYR_NET_COMPUTE},
        {"计算", MYR_NET_COMPUTE},
        {"算力", MYR_NET_COMPUTE},
        {"参数", MYR_NET_COMPUTE},
        {"service", MYR_NET_SERVICE},
        {"in-band", MYR_NET_SERVICE},
        {"inband", MYR_NET_SERVICE},
        {"frontend", MYR_NET_SERVICE},
        {"业务", MYR_NET_SERVICE},
        {"带内", MYR_NET_SERVICE},
        {"oob", MYR_NET_OOB},
        {"out of band", MYR_NET_OOB},
        {"out-of-band", MYR_NET_OOB},
        {"bmc", MYR_NET_OOB},
        {"management", MYR_NET_OOB},
        {"带外", MYR_NET_OOB},
        {"管理", MYR_NET_OOB},
    };
    uint32_t net = AUDIT_NO_NET;
    text = audit_trim(text);
    if (text.len == 0) {
        return AUDIT_ANY_NET;
    }
    (void)find_row(text, rows, MYR_ARRAY_COUNT(rows), &net);
    return net;
}

/* Parts that lists name in words and that have no order number. */
static void read_part_words(struct myr_str text, struct audit_words *words)
{
    static const struct {
        const char *word, *part;
    } rows[] = {
        {"firewall", "firewall"},
        {"防火墙", "firewall"},
        {"bastion", "bastion"},
        {"堡垒机", "bastion"},
        {"log audit", "log-audit"},
        {"日志审计", "log-audit"},
        {"管理节点", "mgmt-node"},
        {"管理服务器", "mgmt-node"},
        {"登录节点", "mgmt-node"},
        {"management node", "mgmt-node"},
        {"management server", "mgmt-node"},
        {"login node", "mgmt-node"},
        {"subnet manager", "ufm-appliance"},
        {"子网管理器", "ufm-appliance"},
        {"存储软件", "storage-software"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (audit_has_word(text, rows[i].word)) {
            words->part = rows[i].part;
            return;
        }
    }
}

/* Particular kinds of servers and switches come before the plain words. */
static const struct word_row roles[] = {
    {"fabric manager", AUDIT_MANAGER},
    {"subnet manager", AUDIT_MANAGER},
    {"子网管理器", AUDIT_MANAGER},
    {"管理服务器", AUDIT_MANAGEMENT},
    {"管理节点", AUDIT_MANAGEMENT},
    {"登录节点", AUDIT_MANAGEMENT},
    {"management node", AUDIT_MANAGEMENT},
    {"management server", AUDIT_MANAGEMENT},
    {"management", AUDIT_MANAGEMENT},
    {"login node", AUDIT_MANAGEMENT},
    {"存储服务器", AUDIT_STORAGE},
    {"存储节点", AUDIT_STORAGE},
    {"storage server", AUDIT_STORAGE},
    {"storage node", AUDIT_STORAGE},
    {"存储软件", AUDIT_OTHER},
    {"光模块", AUDIT_MODULE},
    {"transceiver", AUDIT_MODULE},
    {"transceivers", AUDIT_MODULE},
    {"光纤", AUDIT_CABLE},
    {"线缆", AUDIT_CABLE},
    {"网线", AUDIT_CABLE},
    {"跳线", AUDIT_CABLE},
    {"cable", AUDIT_CABLE},
    {"cables", AUDIT_CABLE},
    {"fibre", AUDIT_CABLE},
    {"fiber", AUDIT_CABLE},
    {"aggregation switch", AUDIT_AGGREGATION},
    {"汇聚", AUDIT_AGGREGATION},
    {"核心交换机", AUDIT_AGGREGATION},
    {"access switch", AUDIT_ACCESS},
    {"接入交换机", AUDIT_ACCESS},
    {"aggregation", AUDIT_AGGREGATION},
    {"access", AUDIT_ACCESS},
    {"leaf", AUDIT_SWITCH},
    {"spine", AUDIT_SWITCH},
    {"router", AUDIT_SWITCH},
    {"switch", AUDIT_SWITCH},
    {"switches", AUDIT_SWITCH},
    {"交换机", AUDIT_SWITCH},
    {"core", AUDIT_SWITCH},
    {"网卡", AUDIT_NIC},
    {"nic", AUDIT_NIC},
    {"gpu server", AUDIT_SERVER},
    {"gpu servers", AUDIT_SERVER},
    {"gpu node", AUDIT_SERVER},
    {"gpu服务器", AUDIT_SERVER},
    {"gpu", AUDIT_SERVER},
    {"算力服务器", AUDIT_SERVER},
    {"训练服务器", AUDIT_SERVER},
    {"server", AUDIT_SERVER},
    {"servers", AUDIT_SERVER},
    {"node", AUDIT_SERVER},
    {"服务器", AUDIT_SERVER},
};
/* Which end of a cable a module is meant for. */
static const struct word_row ends[] = {
    {"switch end", AUDIT_END_SWITCH}, {"switch side", AUDIT_END_SWITCH},
    {"交换机侧", AUDIT_END_SWITCH},   {"交换机端", AUDIT_END_SWITCH},
    {"nic end", AUDIT_END_NIC},       {"nic side", AUDIT_END_NIC},
    {"网卡侧", AUDIT_END_NIC},        {"网卡端", AUDIT_END_NIC},
    {"服务器侧", AUDIT_END_NIC},
};
/* Routers have hosts, as leaves do. */
static const struct word_row tiers[] = {
    {"leaf", AUDIT_TIER_LEAF},
    {"spine", AUDIT_TIER_SPINE},
    {"core", AUDIT_TIER_CORE},
    {"router", AUDIT_TIER_LEAF},
};

/* Leaves alone what the text does not tell, so that several texts may be read into one. */
void audit_words_read(struct myr_str text, struct audit_words *words)
{
    uint32_t value;
    if (find_row(text, roles, MYR_ARRAY_COUNT(roles), &value)) {
        words->role = (enum audit_role)value;
    }
    if (find_row(text, ends, MYR_ARRAY_COUNT(ends), &value)) {
        words->end = (enum audit_end)value;
    }
    if (find_row(text, tiers, MYR_ARRAY_COUNT(tiers), &value)) {
        words->tier = (enum audit_tier)value;
    }
    read_part_words(text, words);
}

/* Up to three bytes may follow: a colon, which in Chinese has three. */
bool audit_is_total(struct myr_str text)
{
    static const char *const words[] = {"total", "grand total", "sum", "总价", "合计", "总计"};
    text = audit_trim(text);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        size_t len = strlen(words[i]);
        if (text.len >= len && text.len <= len + 3 &&
            myr_str_eq_nocase((struct myr_str){text.data, len}, myr_str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Whole cells only: a title that contains such a word is no header. */
int audit_column(struct myr_str cell, const char *const *const *words, uint32_t count)
{
    cell = audit_trim(cell);
    for (uint32_t i = 0; i < count; i++) {
        for (const char *const *word = words[i]; *word; word++) {
            if (myr_str_eq_nocase(cell, myr_str_from(*word))) {
                return (int)i;
            }
        }
    }
    return -1;
}
