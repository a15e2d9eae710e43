/* A player for all four games. To make it yours, replace `choose`.
 *     ./player            plays the best move for this turn
 *     ./player random     plays any legal move
 *     ./player echo       for tests: reads frames in hex, line by line, and writes them back, or an error */
#include "games.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_random;

/* A number from 0 to `bound` - 1, by xorshift64 of George Marsaglia. Matches with the same seed get the same numbers, so
 * that a match can be repeated. */
static size_t chance(size_t bound) {
    static uint64_t state;
    if (state == 0) {
        const char *seed = getenv("REFEREE_PLAYER_SEED");
        char digits[17] = "";
        strncat(digits, seed != NULL ? seed : "", 16);
        state = strtoull(digits, NULL, 16) | (seed != NULL ? 1 : (uint64_t)time(NULL) << 1 | 1);
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % bound);
}

/* Appends the move to play. This is the function to replace.
 * game: its name: "q", "quincy", "quincala" or "quadominos"; view: all that this seat may know, as the referee sent it. */
static void choose(const char *game, const struct value *view, struct buffer *move) {
    struct moves moves = {0};
    size_t best = 0, chosen = 0, taken = 0;
    list_moves(game, view, &moves);
    for (size_t i = 0; i < moves.count; i++)
        if (moves.items[i].value > moves.items[best].value)
            best = i;
    for (size_t i = 0; i < moves.count; i++)
        if ((is_random || moves.items[i].value == moves.items[best].value) && chance(++taken) == 0)
            chosen = i; /* the n-th best move replaces the one before with probability 1/n, so all are equally likely */
    for (size_t i = 0; i < moves.items[chosen].move.size; i++)
        put_byte(move, moves.items[chosen].move.bytes[i]);
    for (size_t i = 0; i < moves.count; i++)
        free(moves.items[i].move.bytes);
    free(moves.items);
}

/* Decodes a frame, encodes it again, and prints it. */
static void echo(const unsigned char *bytes, size_t size) {
    struct value message = {.kind = NIL};
    struct buffer out = {0};
    size_t length = size < 4 ? 0 : (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
    const char *wrong = size < 5 || length != size - 4 ? "not one whole frame" : read_body(bytes + 4, length, &message);
    if (wrong == NULL) {
        put_value(&out, &message);
        printf("%08zx", out.size);
        for (size_t i = 0; i < out.size; i++)
            printf("%02x", out.bytes[i]);
        putchar('\n');
    } else {
        printf("error: %s\n", wrong);
    }
    release(&message);
    free(out.bytes);
}

static void echo_lines(void) {
    static char line[64 * 1024];
    static unsigned char bytes[sizeof line / 2];
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t size = strcspn(line, "\n") / 2;
        for (size_t i = 0; i < size; i++) {
            char pair[3] = {line[2 * i], line[2 * i + 1], 0};
            bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
        }
        echo(bytes, size);
    }
}

int main(int count, char **words) {
    const char *strategy = count > 1 ? words[1] : "heuristic";
    is_random = strcmp(strategy, "random") == 0;
    if (strcmp(strategy, "echo") == 0) {
        echo_lines();
    } else if (is_random || strcmp(strategy, "heuristic") == 0) {
        play(choose);
    } else {
        fprintf(stderr, "the strategy is heuristic or random, not %s\n", strategy);
        return 2;
    }
    return 0;
}
