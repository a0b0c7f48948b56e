#include "orders/cells.h"

#include "myriad/text.h"

/*
 * The columns of one plug, in the order of the cells that are relative to CELL_PLUG_1 and
 * CELL_PLUG_2: an exchange has two plugs.
 */
#define PLUG_COLUMNS(number, chinese)                                                             \
    {"cable" number, "线缆编号" chinese, CELL_TEXT}, {"label" number, "线标" chinese, CELL_TEXT}, \
        {"length" number "_m", "长度（米）" chinese, CELL_NUMBER},                                \
        {"colour" number, "颜色" chinese, CELL_TEXT}, {"part" number, "部件" chinese, CELL_TEXT}, \
        {"other_end_rack" number, "另一端机柜" chinese, CELL_TEXT},                               \
        {"other_end_u" number, "另一端 U 位" chinese, CELL_NUMBER},                               \
        {"other_end_device" number, "另一端设备" chinese, CELL_TEXT},                             \
    {                                                                                             \
        "other_end_port" number, "另一端端口" chinese, CELL_TEXT                                  \
    }

const struct order_column order_columns[CELL_COUNT] = {
    {"order", "工单号", CELL_NUMBER},
    {"crew", "班组", CELL_NUMBER},
    {"walk", "行走顺序", CELL_NUMBER},
    {"visit", "到访", CELL_NUMBER},
    {"after", "须在此工单之后", CELL_NUMBER},
    {"do", "操作", CELL_TEXT},
    {"rack", "机柜", CELL_TEXT},
    {"u", "U 位", CELL_NUMBER},
    {"device", "设备", CELL_TEXT},
    {"port", "端口", CELL_TEXT},
    {"to_rack", "移至机柜", CELL_TEXT},
    {"to_u", "移至 U 位", CELL_NUMBER},
    {"to_device", "移至设备", CELL_TEXT},
    {"to_port", "移至端口", CELL_TEXT},
    PLUG_COLUMNS("", ""),
    PLUG_COLUMNS("_2", " 2"),
    {"legs", "分支数", CELL_NUMBER},
    {"same_cage", "同一笼口", CELL_TEXT},
    {"leave_module", "保留模块", CELL_FLAG},
    {"check_first", "先确认为空", CELL_FLAG},
    {"wait_s", "等待（秒）", CELL_NUMBER},
    {"since_run", "首次发现于第几次", CELL_NUMBER},
    {"sentence", "说明", CELL_TEXT},
    {"code", "扫描码", CELL_TEXT},
};

/* Empty where the design has no room, or the device is not of the design. */
static void put_place(const struct myr_orders *orders, uint32_t vertex, struct myr_buf *rack,
                      struct myr_buf *unit)
{
    struct order_place place = order_place_of(orders, vertex);
    if (place.rack != MYR_NONE) {
        myr_design_rack_name(orders->verify->design, place.rack, rack);
        myr_buf_put_u64(unit, place.unit);
    }
}

/* Rack, unit, device and port, in four cells. */
static void put_where(const struct myr_orders *orders, uint32_t vertex, struct myr_buf *cells)
{
    /* Nowhere: all four stay empty. */
    if (vertex != MYR_NONE) {
        put_place(orders, vertex, &cells[0], &cells[1]);
        order_put_device(orders, vertex, &cells[2]);
        order_put_port(orders, vertex, &cells[3]);
    }
}

/* The other end is told even where no cable of the plan is there. */
static void put_plug(const struct myr_orders *orders, const struct myr_plug *plug,
                     enum myr_language language, struct myr_buf *cells)
{
    put_where(orders, plug->far, &cells[CELL_OTHER_RACK]);
    /* No cable of the plan: nothing is known of it but where it leads. */
    if (plug->cable == MYR_NONE) {
        return;
    }
    const struct myr_cabletype *type = order_cable_type(orders, plug->cable);
    const struct myr_design *design = orders->verify->design;
    myr_buf_put_u64_pad(&cells[CELL_CABLE], myr_design_cable_id(design, plug->cable), 8);
    order_put_flag(orders, plug, &cells[CELL_LABEL]);
    /* Metres with one decimal; what is below is cut off. */
    myr_buf_printf(&cells[CELL_LENGTH], "%u.%u", type->length_mm / 1000,
                   type->length_mm % 1000 / 100);
    myr_buf_puts(&cells[CELL_COLOUR],
                 order_colour_word(language, order_colour(orders, plug->cable)));
    myr_buf_puts(&cells[CELL_PART], myr_design_str(design, type->part));
}

static void put_flag(struct myr_buf *cell, bool value)
{
    myr_buf_puts(cell, value ? "true" : "false");
}

/* 0 means "none" in every number of an order: the cell stays empty. */
static void put_number(struct myr_buf *cell, uint32_t value)
{
    if (value) {
        myr_buf_put_u64(cell, value);
    }
}

/* Every cell that has nothing to say stays empty. */
void order_cells(const struct myr_orders *orders, uint32_t index, enum myr_language language,
                 struct myr_buf cells[CELL_COUNT])
{
    enum { MATES_MAX = 32 };
    const struct myr_work_order *order = &orders->items[index];
    const struct myr_plug *plug = &order->plugs[0];
    uint32_t mates[MATES_MAX];
    bool module;
    for (uint32_t i = 0; i < CELL_COUNT; i++) {
        myr_buf_clear(&cells[i]);
    }
    put_number(&cells[CELL_ORDER], index + 1);
    put_number(&cells[CELL_CREW], order->crew);
    put_number(&cells[CELL_WALK], order->walk);
    put_number(&cells[CELL_VISIT], order->visit);
    put_number(&cells[CELL_AFTER], order->after);
    myr_buf_puts(&cells[CELL_DO], myr_order_op_names[order->op]);
    /* A new cable has no place yet: then where it goes is where the order is. */
    put_where(orders, plug->at == MYR_NONE ? plug->to : plug->at, &cells[CELL_RACK]);
    /* Only then the plug has another place to go to. */
    bool goes = order->op == MYR_ORDER_SWAP || order->op == MYR_ORDER_MOVE;
    put_where(orders, goes ? plug->to : MYR_NONE, &cells[CELL_TO_RACK]);
    put_plug(orders, plug, language, &cells[CELL_PLUG_1]);
    if (order->plug_count > 1) {
        put_plug(orders, &order->plugs[1], language, &cells[CELL_PLUG_2]);
    }
    put_number(&cells[CELL_LEGS], order->legs ? order->legs : 1);
    /* Cables that run and share a cage with this one. */
    uint32_t count = order_cage_mates(orders, order, mates, MATES_MAX, &module);
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_puts(&cells[CELL_SAME_CAGE], i ? "; " : "");
        myr_verify_port_name(orders->verify, mates[i], &cells[CELL_SAME_CAGE]);
    }
    put_flag(&cells[CELL_LEAVE_MODULE], count && module);
    put_flag(&cells[CELL_CHECK_FIRST], order->check_first);
    put_number(&cells[CELL_WAIT], orders->wait_s);
    put_number(&cells[CELL_SINCE], order->since);
    order_sentence(orders, order, language, &cells[CELL_SENTENCE]);
    order_put_code(orders, index, true, &cells[CELL_CODE]);
}

/* Headers and words in the language asked for; names of devices as they are. */
void myr_orders_csv(const struct myr_orders *orders, enum myr_language language,
                    struct myr_buf *buf)
{
    struct myr_buf cells[CELL_COUNT] = {};
    bool chinese = language == MYR_CHINESE;
    /* Excel takes a file without the mark for one in the machine's own code page. */
    myr_buf_puts(buf, chinese ? MYR_CSV_MARK : "");
    for (uint32_t c = 0; c < CELL_COUNT; c++) {
        myr_buf_puts(buf, c ? "," : "");
        myr_buf_puts(buf, chinese ? order_columns[c].chinese : order_columns[c].key);
    }
    myr_buf_putc(buf, '\n');
    for (uint32_t i = 0; i < orders->count; i++) {
        order_cells(orders, i, language, cells);
        for (uint32_t c = 0; c < CELL_COUNT; c++) {
            struct myr_str cell = {cells[c].len ? cells[c].data : "", cells[c].len};
            myr_buf_puts(buf, c ? "," : "");
            /* Numbers and flags need no quotes. */
            if (order_columns[c].kind == CELL_TEXT) {
                myr_csv_put_text(buf, cell);
            } else {
                myr_buf_put(buf, cell.data, cell.len);
            }
        }
        myr_buf_putc(buf, '\n');
    }
    for (uint32_t c = 0; c < CELL_COUNT; c++) {
        myr_buf_done(&cells[c]);
    }
}
