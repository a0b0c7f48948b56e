#include "names/expr.h"

/* Two values multiplied stay far below 64 bits. */
enum { VALUE_MAX = 1000000000, DEPTH_MAX = 16 };

struct reader {
    struct myr_str text;
    size_t at; /* how far it is read */
    const struct expr_scope *scope;
    const char *fault; /* of the text */
    bool none;         /* it is well formed, but has no value here */
    uint32_t depth;    /* of the stack */
};

static void skip_blanks(struct reader *r)
{
    while (r->at < r->text.len && r->text.data[r->at] == ' ') {
        r->at++;
    }
}

/* Takes a word if it is next. Longer operators must be tried before their beginnings. */
static bool take(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    skip_blanks(r);
    if (r->text.len - r->at < len || memcmp(r->text.data + r->at, word, len) != 0) {
        return false;
    }
    r->at += len;
    return true;
}

/* Out of bounds: the expression has no value, which is no error. */
static int64_t bounded(struct reader *r, int64_t value)
{
    if (value > VALUE_MAX || value < -VALUE_MAX) {
        r->none = true;
        return 0;
    }
    return value;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

/* A name without a value makes the whole have none, which is no fault. */
static int64_t read_variable(struct reader *r)
{
    size_t start = r->at;
    while (r->at < r->text.len && is_letter(r->text.data[r->at])) {
        r->at++;
    }
    struct myr_str name = {r->text.data + start, r->at - start};
    for (uint32_t i = 0; i < r->scope->count; i++) {
        if (myr_str_eq(name, myr_str_from(r->scope->items[i].name))) {
            r->none = r->none || r->scope->items[i].value < 0;
            return r->scope->items[i].value;
        }
    }
    /* Names are letters only, so that a digit ends one. */
    r->fault = "a name that is none of the captured or given ones";
    return 0;
}

static int64_t read_number(struct reader *r)
{
    int64_t value = 0;
    while (r->at < r->text.len && is_digit(r->text.data[r->at])) {
        value = bounded(r, value * 10 + (r->text.data[r->at++] - '0'));
    }
    return value;
}

static int64_t apply(struct reader *r, char op, int64_t a, int64_t b)
{
    switch (op) {
    case '+':
        return bounded(r, a + b);
    case '-':
        return bounded(r, a - b);
    case '*':
        return bounded(r, a * b); /* both are below 2^30 */
    default:
        break;
    }
    /* What is left divides. */
    if (b == 0) {
        r->none = true;
        return 0;
    }
    return op == '/' ? a / b : a % b;
}

/*
 * One loop for all levels, with a stack of what waits for its right side: rules are short, and no
 * text from outside can make this go deep.
 */
struct pending {
    int64_t left; /* what stands before the operator */
    char op;      /* '(' for a bracket; '=', '!', '<', '>', 'l' (<=), 'g' (>=) for comparisons */
};

/* Higher binds tighter; comparisons are 2. */
static uint32_t rank_of(char op)
{
    return op == '*' || op == '/' || op == '%' ? 4
           : op == '+' || op == '-'            ? 3
           : op == '&'                         ? 1
           : op == '('                         ? 0
                                               : 2;
}

static int64_t combine(struct reader *r, struct pending one, int64_t right)
{
    switch (one.op) {
    case '=':
        return one.left == right;
    case '!':
        return one.left != right;
    case '<':
        return one.left < right;
    case '>':
        return one.left > right;
    case 'l':
        return one.left <= right;
    case 'g':
        return one.left >= right;
    case '&':
        return one.left && right;
    default:
        return apply(r, one.op, one.left, right);
    }
}

/* 0: none follows. Longer words stand before their beginnings. */
static char take_operator(struct reader *r)
{
    static const struct {
        const char *word;
        char op;
    } words[] = {{"==", '='}, {"!=", '!'}, {"<=", 'l'}, {">=", 'g'}, {"<", '<'}, {">", '>'},
                 {"&", '&'},  {"+", '+'},  {"-", '-'},  {"*", '*'},  {"/", '/'}, {"%", '%'}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (take(r, words[i].word)) {
            return words[i].op;
        }
    }
    return 0;
}

/* Opens brackets on the way; false ends the reading, with a fault or not. */
static bool read_operand(struct reader *r, struct pending *stack, int64_t *ret)
{
    while (take(r, "(")) {
        if (r->depth == DEPTH_MAX) {
            r->fault = "too many brackets";
            return false;
        }
        stack[r->depth++] = (struct pending){0, '('};
    }
    char c = r->at < r->text.len ? r->text.data[r->at] : 0;
    if (!is_digit(c) && !is_letter(c)) {
        r->fault = "a number, a name or '(' is expected";
        return false;
    }
    *ret = is_digit(c) ? read_number(r) : read_variable(r);
    return !r->fault;
}

/* Operands and operators by turns; what binds less tightly waits on the stack. */
static int64_t read_all(struct reader *r)
{
    struct pending stack[DEPTH_MAX];
    int64_t value = 0;
    while (read_operand(r, stack, &value)) {
        /* Everything since the bracket opened is one value. */
        while (take(r, ")")) {
            while (r->depth && stack[r->depth - 1].op != '(') {
                value = combine(r, stack[--r->depth], value);
            }
            if (r->depth == 0) {
                r->fault = "')' without '('";
                return 0;
            }
            r->depth--;
        }
        char op = take_operator(r);
        /* Whatever binds at least as tightly as what follows is done first: from left to right. */
        while (r->depth && stack[r->depth - 1].op != '(' &&
               rank_of(stack[r->depth - 1].op) >= rank_of(op ? op : '(')) {
            value = combine(r, stack[--r->depth], value);
        }
        /* The end of the text, or something that does not belong there. */
        if (op == 0) {
            r->fault = r->at < r->text.len ? "an operator is expected"
                       : r->depth          ? "'(' without ')'"
                                           : NULL;
            return value;
        }
        if (r->depth == DEPTH_MAX) {
            r->fault = "too long";
            return 0;
        }
        stack[r->depth++] = (struct pending){value, op};
    }
    return value;
}

bool expr_value(struct myr_str text, const struct expr_scope *scope, int64_t *ret)
{
    struct reader r = {.text = text, .scope = scope};
    int64_t value = read_all(&r);
    if (r.fault || r.none) {
        return false;
    }
    *ret = value;
    return true;
}

/* Values do not matter here: only whether it can be read. */
const char *expr_fault(struct myr_str text, const struct expr_scope *scope)
{
    struct reader r = {.text = text, .scope = scope};
    (void)read_all(&r);
    return r.fault;
}
