/* The wire: what is answered to which message. Knows protocol/SPEC.md and sockets; knows no game. You need not change
 * anything here. */
#ifndef WIRE_H
#define WIRE_H

#include "msgpack.h"

/* Connect, play every match that is offered, and return when the referee closes the connection.
 * `choose` appends a move to a buffer; it gets the name of the game and the view. */
typedef void chooser(const char *game, const struct value *view, struct buffer *move);
void play(chooser *choose);

#endif
