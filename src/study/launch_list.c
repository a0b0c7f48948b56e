#include <stdarg.h>
#include <stdio.h>

#include "launch_list.h"

/*
 * Lists of arguments, keys, variables and notes, which the trainers' writers fill. Texts are
 * formatted into the arena of the launch; names are constants of the writers.
 */

/* Formatted into the arena, however long it is. */
static MYR_PRINTF(2, 0) const
    char *format_text(struct myr_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    /* Measured first, written then. */
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    MYR_ASSERT(len >= 0);
    char *text = MYR_ARENA_NEW(arena, char, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, args);
    return text;
}

/* No name twice: only one of them would count. */
static void add(struct myr_launch *l, const char *name, const char *value,
                enum myr_launch_kind kind)
{
    MYR_ASSERT(l->item_count < MYR_LAUNCH_ITEMS_MAX && !launch_has(l, name));
    l->items[l->item_count++] = (struct myr_launch_item){name, value, kind};
}

/* Lists are short: they are looked through. */
bool launch_has(const struct myr_launch *l, const char *name)
{
    for (uint32_t i = 0; i < l->item_count; i++) {
        if (strcmp(l->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void launch_switch(struct myr_launch *l, const char *name)
{
    add(l, name, NULL, MYR_LAUNCH_SWITCH);
}

/* As text: values of all kinds are. */
void launch_number(struct myr_launch *l, const char *name, uint64_t value)
{
    launch_put(l, MYR_LAUNCH_NUMBER, name, "%llu", (unsigned long long)value);
}

void launch_put(struct myr_launch *l, enum myr_launch_kind kind, const char *name,
                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(l, name, format_text(l->arena, format, args), kind);
    va_end(args);
}

/* For the file beside the command; names have dots for maps in maps. */
void launch_config(struct myr_launch *l, enum myr_launch_kind kind, const char *name,
                   const char *format, ...)
{
    va_list args;
    MYR_ASSERT(l->config_count < MYR_LAUNCH_ITEMS_MAX);
    va_start(args, format);
    l->config[l->config_count++] =
        (struct myr_launch_item){name, format_text(l->arena, format, args), kind};
    va_end(args);
}

/* What the trainer cannot be told; shown wherever the launch is. */
void launch_note(struct myr_launch *l, const char *format, ...)
{
    va_list args;
    MYR_ASSERT(l->note_count < MYR_LAUNCH_NOTES_MAX);
    va_start(args, format);
    l->notes[l->note_count++] = format_text(l->arena, format, args);
    va_end(args);
}

/* Names and values are constants: no copy is made. */
void launch_variable(struct myr_launch *l, const char *name, const char *value)
{
    MYR_ASSERT(l->variable_count < MYR_LAUNCH_VARIABLES_MAX);
    l->variables[l->variable_count++] = (struct myr_launch_item){name, value, MYR_LAUNCH_TEXT};
}

bool launch_usual_order(const struct myr_layout *layout)
{
    static const enum myr_axis usual[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP,
                                          MYR_AXIS_PP};
    return memcmp(layout->order, usual, sizeof(usual)) == 0;
}

void launch_note_order(struct myr_launch *l)
{
    launch_note(l, "ranks in the order of the layout block, by the launcher's host file");
}

/* By the name of the device: its trainers have other words for some things. */
bool launch_is_ascend(const struct myr_launch_case *of)
{
    static const char start[] = "ascend";
    return of->device && strncmp(of->device->name, start, sizeof(start) - 1) == 0;
}

/* Without a recipe what trainers do by themselves. */
uint32_t launch_recipe(const struct myr_launch_case *of, enum myr_capability capability,
                       uint32_t otherwise)
{
    return of->recipe ? of->recipe->of[capability] : otherwise;
}

/* Nine digits tell any number that a description of a model has. */
const char *launch_double(struct myr_launch *l, double value)
{
    return myr_arena_printf(l->arena, "%.9g", value);
}
