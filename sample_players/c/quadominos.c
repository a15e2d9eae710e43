/* Quad-Ominos: lay a tile whose corners agree with all corners that they meet. */
#include "games.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long total(const char *tile) { return tile[0] + tile[1] + tile[2] + tile[3] - 4L * '0'; }

static void add_lay(struct moves *moves, long value, int row, int column, const char *tile) {
    struct buffer *out = add_move(moves, value, 4, "lay");
    put_text(out, "row");
    put_int(out, row);
    put_text(out, "column");
    put_int(out, column);
    put_text(out, "tile");
    put_text(out, tile);
}

/* Finds the numbers that the corners of a cell must show, clockwise from the top left one; '.' where it meets none. */
static int wanted_on(const struct table *table, int row, int column, char wanted[5]) {
    /* for each corner: the three other cells there, and the number of this corner in them */
    static const int AROUND[4][3][3] = {{{-1, -1, 2}, {-1, 0, 3}, {0, -1, 1}},
                                        {{-1, 0, 2}, {-1, 1, 3}, {0, 1, 0}},
                                        {{0, 1, 3}, {1, 1, 0}, {1, 0, 1}},
                                        {{0, -1, 2}, {1, -1, 1}, {1, 0, 0}}};
    int met = 0;
    strcpy(wanted, "....");
    for (int corner = 0; corner < 4; corner++) {
        for (int i = 0; i < 3; i++) {
            const int *other = AROUND[corner][i];
            const char *tile = *slot(table, row + other[0], column + other[1]);
            if (tile)
                wanted[corner] = tile[other[2]];
        }
        met += wanted[corner] != '.';
    }
    return met;
}

static bool agrees(const char *tile, const char wanted[5]) {
    for (int corner = 0; corner < 4; corner++)
        if (wanted[corner] != '.' && wanted[corner] != tile[corner])
            return false;
    return true;
}

static void add_lays(const struct value *view, struct moves *moves) {
    const struct value *hand = get(view, "hand");
    struct table table = table_of(get(view, "board"));
    int row = table.top + 1, column = table.left;
    while (next_open(&table, &row, &column)) {
        char wanted[5], turned[8];
        long bonus = wanted_on(&table, row, column, wanted) >= 3 && is(view, "step", "lay") ? 25 : 0;
        for (size_t i = 0; i < hand->count; i++) {
            for (int turn = 0; turn < 4; turn++) {
                snprintf(turned, sizeof turned, "%s%.*s", text(hand, i) + turn, turn, text(hand, i));
                if (agrees(turned, wanted))
                    add_lay(moves, total(turned) + bonus, row, column, turned);
            }
        }
    }
    free(table.tiles);
}

void quadominos(const struct value *view, struct moves *moves) {
    if (is(view, "step", "open")) { /* with the highest quad, or with the quad-zero, for points and two more tiles */
        const struct value *hand = get(view, "hand");
        const char *highest = "0000";
        for (size_t i = 0; i < hand->count; i++) {
            if (strcmp(text(hand, i), "0000") == 0)
                add_lay(moves, 25, 0, 0, "0000");
            if (text(hand, i)[0] == text(hand, i)[3] && strcmp(text(hand, i), highest) > 0)
                highest = text(hand, i); /* the numbers of a tile ascend, so if first and last are equal, all are */
        }
        if (strcmp(highest, "0000") != 0)
            add_lay(moves, total(highest), 0, 0, highest);
    } else if (is(view, "step", "bonus")) {
        add_move(moves, 25, 1, "points"); /* two more tiles may score more: try it */
    } else {
        if (is(view, "step", "extra"))
            add_move(moves, -1, 1, "done");
        add_lays(view, moves);
    }
}
