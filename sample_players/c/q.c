/* The Q game: place tiles in a line, exchange the hand, or pass. */
#include "games.h"

#include <stdlib.h>
#include <string.h>

static bool agree(const char *one, const char *other, bool in_shape) {
    const char *shape = strchr(one, '-'), *other_shape = strchr(other, '-');
    return in_shape ? !strcmp(shape, other_shape) : one[0] == other[0]; /* each colour begins with another letter */
}

/* Tells whether a tile agrees with its neighbours along each axis: all in colour or all in shape. */
static bool fits(const struct table *table, int row, int column, const char *tile) {
    for (int down = 0; down < 2; down++) {
        const char *one = *slot(table, row - down, column - !down), *other = *slot(table, row + down, column + !down);
        bool in_color = (!one || agree(tile, one, false)) && (!other || agree(tile, other, false));
        bool in_shape = (!one || agree(tile, one, true)) && (!other || agree(tile, other, true));
        if (!in_color && !in_shape)
            return false;
    }
    return true;
}

static int neighbours(const struct table *table, int row, int column) {
    return !!*slot(table, row - 1, column) + !!*slot(table, row + 1, column) + !!*slot(table, row, column - 1) +
           !!*slot(table, row, column + 1);
}

struct placed {
    int row, column;
    size_t tile; /* index in the hand */
};

/* The trial of a placement: the table, the hand, and the tiles laid so far. */
struct trial {
    struct table *table;
    const struct value *hand;
    bool *used; /* by index in the hand */
    struct placed *laid;
    size_t count;
};

static void lay_tile(struct trial *trial, struct placed next) {
    *slot(trial->table, next.row, next.column) = text(trial->hand, next.tile);
    trial->used[next.tile] = true;
    trial->laid[trial->count++] = next;
}

/* Finds the first tile of the hand that fits at the end of a line; false if there is none. */
static bool find_next(const struct trial *trial, struct placed *next, int down, int right) {
    while (*slot(trial->table, next->row, next->column)) {
        next->row += down;
        next->column += right;
    }
    for (next->tile = 0; next->tile < trial->hand->count; next->tile++)
        if (!trial->used[next->tile] && fits(trial->table, next->row, next->column, text(trial->hand, next->tile)))
            return true;
    return false;
}

/* Adds the placement of the laid tiles, and takes them off the table again. */
static void add_placement(struct moves *moves, struct trial *trial) {
    long value = (long)trial->count;
    for (size_t i = 0; i < trial->count; i++)
        value += neighbours(trial->table, trial->laid[i].row, trial->laid[i].column);
    struct buffer *out = add_move(moves, value, 2, "place");
    put_text(out, "tiles");
    put_list(out, trial->count);
    for (size_t i = 0; i < trial->count; i++) {
        put_list(out, 3);
        put_int(out, trial->laid[i].row);
        put_int(out, trial->laid[i].column);
        put_text(out, text(trial->hand, trial->laid[i].tile));
        *slot(trial->table, trial->laid[i].row, trial->laid[i].column) = NULL;
    }
}

/* Lays a first tile, then more of the hand next to it, along one axis in both directions. */
static void try_placement(struct moves *moves, struct table *table, const struct value *hand, struct placed first, int down) {
    struct trial trial = {.table = table, .hand = hand};
    trial.used = need(hand->count, sizeof *trial.used);
    trial.laid = need(hand->count, sizeof *trial.laid);
    lay_tile(&trial, first);
    for (int sign = 1; sign >= -1; sign -= 2)
        for (struct placed next = first; find_next(&trial, &next, sign * down, sign * !down);)
            lay_tile(&trial, next);
    add_placement(moves, &trial);
    free(trial.used);
    free(trial.laid);
}

void q(const struct value *view, struct moves *moves) {
    const struct value *hand = get(view, "hand");
    struct table table = table_of(get(view, "map"));
    struct placed first = {.row = table.top + 1, .column = table.left};
    add_move(moves, -2, 1, "pass");
    if ((int64_t)hand->count <= get(view, "tiles_left")->number)
        add_move(moves, -1, 1, "exchange");
    while (next_open(&table, &first.row, &first.column))
        for (first.tile = 0; first.tile < hand->count; first.tile++)
            if (fits(&table, first.row, first.column, text(hand, first.tile)))
                for (int down = 0; down < 2; down++)
                    try_placement(moves, &table, hand, first, down);
    free(table.tiles);
}
