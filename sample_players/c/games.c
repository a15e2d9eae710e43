#include "games.h"

#include <stdlib.h>
#include <string.h>

const int LINES[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

struct buffer *add_move(struct moves *moves, long value, size_t pairs, const char *action) {
    if (moves->count == moves->capacity) {
        moves->capacity = moves->capacity * 2 + 64;
        struct rated *grown = need(moves->capacity, sizeof *grown);
        if (moves->count > 0)
            memcpy(grown, moves->items, moves->count * sizeof *grown);
        free(moves->items);
        moves->items = grown;
    }
    struct rated *added = &moves->items[moves->count++];
    added->value = value;
    put_map(&added->move, pairs);
    put_text(&added->move, "action");
    put_text(&added->move, action);
    return &added->move;
}

void put_cell(struct buffer *out, const char *key, int row, int column) {
    put_text(out, key);
    put_list(out, 2);
    put_int(out, row);
    put_int(out, column);
}

int integer(const struct value *list, size_t index) { return (int)list->items[index].number; }
const char *text(const struct value *list, size_t index) { return list->items[index].text; }
bool is(const struct value *view, const char *key, const char *word) { return !strcmp(get(view, key)->text, word); }

const char **slot(const struct table *table, int row, int column) {
    return &table->tiles[(row - table->top) * table->width + column - table->left];
}

struct table table_of(const struct value *cells) {
    enum { ROOM = 8 };
    struct table table = {0};
    int bottom = 0, right = 0;
    for (size_t i = 0; i < cells->count; i++) {
        int row = integer(&cells->items[i], 0), column = integer(&cells->items[i], 1);
        table.top = row < table.top ? row : table.top;
        table.left = column < table.left ? column : table.left;
        bottom = row > bottom ? row : bottom;
        right = column > right ? column : right;
    }
    table.top -= ROOM;
    table.left -= ROOM;
    table.height = bottom + ROOM + 1 - table.top;
    table.width = right + ROOM + 1 - table.left;
    table.tiles = need((size_t)table.height * (size_t)table.width, sizeof *table.tiles);
    for (size_t i = 0; i < cells->count; i++)
        *slot(&table, integer(&cells->items[i], 0), integer(&cells->items[i], 1)) = text(&cells->items[i], 2);
    return table;
}

/* Tells whether a cell is free and next to an occupied one. */
static bool is_open(const struct table *table, int row, int column) {
    return !*slot(table, row, column) && (*slot(table, row - 1, column) || *slot(table, row + 1, column) ||
                                          *slot(table, row, column - 1) || *slot(table, row, column + 1));
}

bool next_open(const struct table *table, int *row, int *column) {
    do {
        if (++*column >= table->left + table->width - 1) {
            *column = table->left + 1;
            ++*row;
        }
        if (*row >= table->top + table->height - 1)
            return false;
    } while (!is_open(table, *row, *column));
    return true;
}

void list_moves(const char *game, const struct value *view, struct moves *moves) {
    if (strcmp(game, "q") == 0)
        q(view, moves);
    else if (strcmp(game, "quincy") == 0)
        quincy(view, moves);
    else if (strcmp(game, "quincala") == 0)
        quincala(view, moves);
    else if (strcmp(game, "quadominos") == 0)
        quadominos(view, moves);
}
