#include "orders/orders.h"

/* The words of the sheets, in two languages, and the sentence of an order. */

static const char *const words[WORD_COUNT][MYR_LANGUAGES] = {
    [WORD_TITLE] = {"Work orders", "工单"},
    [WORD_CREW] = {"Crew", "班组"},
    [WORD_ORDER] = {"Order", "工单号"},
    [WORD_WALK] = {"Walk", "行走顺序"},
    [WORD_VISIT] = {"Visit", "到访"},
    [WORD_AFTER] = {"After order", "须在此工单之后"},
    [WORD_DO] = {"Do", "操作"},
    [WORD_RACK] = {"Rack", "机柜"},
    [WORD_UNIT] = {"U", "U 位"},
    [WORD_DEVICE] = {"Device", "设备"},
    [WORD_PORT] = {"Port", "端口"},
    [WORD_NOW] = {"Now in", "现在位于"},
    [WORD_THEN] = {"Goes to", "移至"},
    [WORD_FAR] = {"Other end", "另一端"},
    [WORD_CABLE] = {"Cable", "线缆编号"},
    [WORD_FLAG] = {"Its flag says", "线标"},
    [WORD_LENGTH] = {"Length m", "长度（米）"},
    [WORD_COLOUR] = {"Colour", "颜色"},
    [WORD_PART] = {"Part", "部件"},
    [WORD_DARK] = {"Same cage", "同一笼口"},
    [WORD_SINCE] = {"Since run", "首次发现于第几次"},
    [WORD_DONE] = {"done", "完成"},
    [WORD_NOTHING] = {"Nothing to do.", "没有需要处理的事项。"},
    [WORD_PLUG] = {"Plug", "插头"},
    [WORD_LOOK_FIRST] = {"Nobody looked at the new port: check that it is free.",
                         "新端口尚未被查看：请先确认它是空的。"},
    [WORD_PULL_FIBRE] = {"The module also serves {1}: pull the fibre, leave the module in.",
                         "该模块同时服务于 {1}：只拔光纤，不要拔出模块。"},
    [WORD_PULL_PLUG] = {"{1} in the same cage go dark while it is open.",
                        "操作期间，同一笼口中的 {1} 会断开。"},
    [WORD_READ_FLAG] = {"Read the flag before you pull. If it says something else, stop and ask.",
                        "拔出前请先核对线标；如与此处不符，请停止并询问。"},
    [WORD_WAIT_LLDP] = {"After the last move wait more than {1} s before the fabric is read again: "
                        "LLDP keeps an old neighbour that long.",
                        "最后一次操作后，请等待超过 {1} 秒再重新读取网络：LLDP "
                        "会将旧邻居保留这么久。"},
    [WORD_WAIT_SM] = {"After the last move wait {1} s before the fabric is read again: the subnet "
                      "manager sweeps that often.",
                      "最后一次操作后，请等待 {1} 秒再重新读取网络：子网管理器按此间隔扫描。"},
    [WORD_SUMMARY] = {"Run {1}. Since the run before: {2} mended, {3} new; {4} open, {5} not seen "
                      "any more.",
                      "第 {1} 次。与上次相比：已修复 {2}，新增 {3}；未解决 {4}，不再可见 {5}。"},
    [WORD_RENAME] =
        {"{1} devices only have each other's names. Rename them first (myriad verify) "
         "and make the orders anew, or move the plugs as below.",
         "有 {1} "
         "台设备只是名称互换。请先改名（myriad verify）并重新生成工单，或按以下工单移动插"
         "头。"},
    [WORD_NEW_CABLE] = {"new cable", "新线缆"},
    [WORD_OUT] = {"out", "拆除"},
};

const char *order_word(enum myr_language language, enum order_word word)
{
    return words[word][language];
}

/*
 * Translators may change the order of places: they are numbered. Arguments are taken as they are.
 */
void order_fill(struct myr_buf *buf, const char *text, const char *const *args, uint32_t count)
{
    for (; *text; text++) {
        /* "{1}" to "{9}"; any other brace is text. */
        bool place = text[0] == '{' && text[1] >= '1' && text[1] <= '9' && text[2] == '}';
        if (!place) {
            myr_buf_putc(buf, *text);
            continue;
        }
        uint32_t index = (uint32_t)(text[1] - '1');
        MYR_ASSERT(index < count);
        myr_buf_puts(buf, args[index]);
        text += 2;
    }
}

/* What is to be looked at first, the cheapest remedy in front. */
static const char *const whys[MYR_WHYS][MYR_LANGUAGES] = {
    [MYR_WHY_SPEED] = {"slower or narrower than planned: seat both plugs anew, clean, then change "
                       "the cable",
                       "速率或宽度低于计划：重新插紧两端，清洁，再更换线缆"},
    [MYR_WHY_ERRORS] = {"errors: clean and inspect both ends, then change the cable",
                        "有误码：清洁并检查两端，再更换线缆"},
    [MYR_WHY_BER] = {"more bit errors than correction can mend: clean and inspect both ends",
                     "误码率超过纠错能力：清洁并检查两端"},
    [MYR_WHY_FEC] = {"errors are not corrected: switch FEC on at both ends",
                     "未启用纠错：在两端启用 FEC"},
    [MYR_WHY_DIRTY] = {"one lane gets much less light than the next: clean and inspect both ends",
                       "有一路接收光功率明显偏低：清洁并检查两端"},
    [MYR_WHY_LIGHT] = {"light out of the range of such modules: clean both ends, then change the "
                       "module",
                       "光功率超出此类模块的范围：清洁两端，再更换模块"},
    [MYR_WHY_MEDIUM] = {"a cable of another kind than planned: change it",
                        "线缆类型与计划不符：请更换"},
};

/* By operation, and whether it is the head of a splitter that moves. */
static const char *const sentences[MYR_ORDER_OPS][2][MYR_LANGUAGES] = {
    [MYR_ORDER_SWAP] = {{"Exchange the plugs in {1} and {2}.", "交换 {1} 与 {2} 中的插头。"},
                        {"Exchange the heads of the splitters in {1} and {2}.",
                         "交换 {1} 与 {2} 中分支线缆的主头。"}},
    [MYR_ORDER_MOVE] = {{"Move the plug from {1} to {2}.", "将插头从 {1} 移到 {2}。"},
                        {"Move the head of the splitter from {1} to {2}.",
                         "将分支线缆的主头从 {1} 移到 {2}。"}},
    [MYR_ORDER_ADD] = {{"Lay a new cable from {1} to {2}.", "从 {1} 到 {2} 布放一根新线缆。"},
                       {"Lay a new cable from {1} to {2}.", "从 {1} 到 {2} 布放一根新线缆。"}},
    [MYR_ORDER_REMOVE] = {{"Take out the cable from {1} to {2}.", "拆除从 {1} 到 {2} 的线缆。"},
                          {"Take out the cable from {1} to {2}.", "拆除从 {1} 到 {2} 的线缆。"}},
    [MYR_ORDER_INSPECT] = {{"Look at the cable from {1} to {2}: {3}.",
                            "检查从 {1} 到 {2} 的线缆：{3}。"},
                           {"Look at the cable from {1} to {2}: {3}.",
                            "检查从 {1} 到 {2} 的线缆：{3}。"}},
};

/* Where the plug is and where it goes; where nothing goes, both ends of the cable. */
void order_sentence(const struct myr_orders *orders, const struct myr_work_order *order,
                    enum myr_language language, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf a = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf b = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf why = {};
    const struct myr_plug *plug = &order->plugs[0];
    bool along = order->op == MYR_ORDER_SWAP || order->op == MYR_ORDER_MOVE;
    /* A new cable is laid from where it goes to. */
    uint32_t from = plug->at == MYR_NONE ? plug->to : plug->at;
    myr_verify_port_name(orders->verify, from, &a);
    myr_verify_port_name(orders->verify, along ? plug->to : plug->far, &b);
    for (uint32_t w = 0; w < MYR_WHYS; w++) {
        if (order->why >> w & 1) {
            myr_buf_puts(&why, why.len ? "; " : "");
            myr_buf_puts(&why, whys[w][language]);
        }
    }
    const char *const args[] = {a.data, b.data, why.len ? why.data : ""};
    order_fill(buf, sentences[order->op][order->legs > 1][language], args, MYR_ARRAY_COUNT(args));
}

/* A site's own colour may be any word: it is shown as it is. */
const char *order_colour_word(enum myr_language language, const char *colour)
{
    static const char *const names[][MYR_LANGUAGES] = {
        {"black", "黑色"},  {"aqua", "水绿色"}, {"yellow", "黄色"}, {"blue", "蓝色"},
        {"orange", "橙色"}, {"green", "绿色"},  {"red", "红色"},    {"white", "白色"},
        {"violet", "紫色"}, {"grey", "灰色"},   {"brown", "棕色"},  {"pink", "粉色"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        if (strcmp(names[i][MYR_ENGLISH], colour) == 0) {
            return names[i][language];
        }
    }
    return colour;
}
