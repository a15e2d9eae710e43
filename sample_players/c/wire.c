#define _GNU_SOURCE /* getrandom */
#include "wire.h"
#include "sha256.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_FRAME_BYTES = 4 * 1024 * 1024 }; /* SPEC.md, "Limits" */

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static int connect_unix(const char *path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path)
        fail(path, "the path of a socket is shorter");
    strcpy(name.sun_path, path);
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&name, sizeof name) != 0)
        fail(path, strerror(errno));
    return connection;
}

static int connect_tcp(const char *place) {
    char host[256];
    const char *port = strrchr(place, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found, *each;
    if (port == NULL || port - place >= (long)sizeof host)
        fail(place, "REFEREE_ADDRESS is tcp:HOST:PORT or unix:PATH");
    bool in_brackets = place[0] == '[';
    snprintf(host, sizeof host, "%.*s", (int)(port - place) - 2 * in_brackets, place + in_brackets);
    int wrong = getaddrinfo(host, port + 1, &hints, &found), connection = -1, on = 1;
    if (wrong != 0)
        fail(place, gai_strerror(wrong));
    for (each = found; each != NULL && connection < 0; each = each->ai_next) {
        connection = socket(each->ai_family, each->ai_socktype, each->ai_protocol);
        if (connection >= 0 && connect(connection, each->ai_addr, each->ai_addrlen) != 0) {
            close(connection);
            connection = -1;
        }
    }
    freeaddrinfo(found);
    if (connection < 0)
        fail(place, "no referee listens there; is it running?");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a move is small: send it at once */
    return connection;
}

static int connect_to(const char *address) {
    if (address != NULL && strncmp(address, "tcp:", 4) == 0)
        return connect_tcp(address + 4);
    if (address != NULL && strncmp(address, "unix:", 5) == 0)
        return connect_unix(address + 5);
    fail("REFEREE_ADDRESS", "it is tcp:HOST:PORT or unix:PATH");
    return -1;
}

/* Fills memory from the connection; false at its end. */
static bool receive(int connection, unsigned char *bytes, size_t size) {
    while (size > 0) {
        ssize_t count = read(connection, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) /* the end of the connection, even by an error, is the end of the match */
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

/* Sends a message and empties its buffer. Ignores a closed connection: the referee's last messages may still have to be
 * read. */
static void send_message(int connection, struct buffer *message) {
    struct buffer whole = {0};
    put_unsigned(&whole, message->size, 4);
    for (size_t i = 0; i < message->size; i++)
        put_byte(&whole, message->bytes[i]);
    for (size_t sent = 0; sent < whole.size;) {
        ssize_t count = write(connection, whole.bytes + sent, whole.size - sent);
        if (count < 0 && errno != EINTR)
            break;
        sent += count > 0 ? (size_t)count : 0;
    }
    free(whole.bytes);
    message->size = 0;
}

static void put_pair(struct buffer *out, const char *key, const char *text) {
    put_text(out, key);
    put_text(out, text);
}

/* Begins an answer: a map with `pairs` pairs, the first two being its type and the match. */
static void begin(struct buffer *out, size_t pairs, const char *type, const struct value *message) {
    put_map(out, pairs);
    put_pair(out, "type", type);
    put_text(out, "match");
    put_value(out, get(message, "match"));
}

static void say_hello(int connection) {
    const char *name = getenv("REFEREE_NAME"), *token = getenv("REFEREE_TOKEN");
    bool has_token = token != NULL && *token;
    struct buffer out = {0};
    put_map(&out, has_token ? 4 : 3);
    put_pair(&out, "type", "hello");
    put_text(&out, "version");
    put_int(&out, 1);
    put_pair(&out, "name", name != NULL && *name ? name : "player");
    if (has_token)
        put_pair(&out, "token", token);
    send_message(connection, &out);
    free(out.bytes);
}

static const char *said(const struct value *message, const char *key) {
    const struct value *found = get(message, key);
    return found->kind == TEXT ? found->text : "";
}

static void say_ready(int connection, const struct value *offer, char nonce[33]) {
    unsigned char random[16]; /* the nonce enters the shuffle: nobody may foresee it, not even the referee */
    char text[200], commitment[65];
    struct buffer out = {0};
    if (getrandom(random, sizeof random, 0) != sizeof random)
        fail("getrandom", strerror(errno));
    for (size_t i = 0; i < sizeof random; i++)
        sprintf(nonce + 2 * i, "%02x", random[i]);
    snprintf(text, sizeof text, "nonce:%s:%lld:%s", said(offer, "match"), (long long)get(offer, "seat")->number, nonce);
    sha256_hex(text, commitment);
    begin(&out, 3, "ready", offer);
    put_pair(&out, "commitment", commitment);
    send_message(connection, &out);
    free(out.bytes);
}

static void say_nonce(int connection, const struct value *reveal, const char *nonce) {
    struct buffer out = {0};
    begin(&out, 3, "nonce", reveal);
    put_pair(&out, "nonce", nonce);
    send_message(connection, &out);
    free(out.bytes);
}

static void say_move(int connection, const struct value *turn, const char *game, chooser *choose) {
    struct buffer out = {0};
    begin(&out, 4, "move", turn);
    put_text(&out, "turn");
    put_value(&out, get(turn, "turn"));
    put_text(&out, "move");
    choose(game, get(turn, "view"), &out);
    send_message(connection, &out);
    free(out.bytes);
}

/* Answers a message. "told", "end" and "paused" need no answer of their own. */
static void answer(int connection, const struct value *message, char game[32], char nonce[33],
                   chooser *choose) {
    const char *type = said(message, "type");
    if (strcmp(type, "refused") == 0)
        fail("the referee refuses this player", said(message, "reason"));
    if (get(message, "game")->kind == TEXT) /* in offer and resumed */
        snprintf(game, 32, "%s", said(message, "game"));
    if (strcmp(type, "offer") == 0)
        say_ready(connection, message, nonce);
    if (strcmp(type, "reveal") == 0) /* all players have committed */
        say_nonce(connection, message, nonce);
    if (strcmp(type, "turn") == 0)
        say_move(connection, message, game, choose);
    if (strcmp(type, "expelled") == 0)
        fprintf(stderr, "expelled: %s %s %s\n", said(message, "foul"), said(message, "rule"), said(message, "detail"));
    if (get(message, "ack")->kind == INT) {
        struct buffer out = {0};
        begin(&out, 3, "ack", message);
        put_text(&out, "ack");
        put_value(&out, get(message, "ack"));
        send_message(connection, &out);
        free(out.bytes);
    }
}

void play(chooser *choose) {
    int connection = connect_to(getenv("REFEREE_ADDRESS"));
    unsigned char prefix[4];
    char game[32] = "", nonce[33] = "";
    signal(SIGPIPE, SIG_IGN); /* a write to a closed connection must not end the program */
    say_hello(connection);
    while (receive(connection, prefix, sizeof prefix)) {
        size_t size = (size_t)prefix[0] << 24 | (size_t)prefix[1] << 16 | (size_t)prefix[2] << 8 | prefix[3];
        if (size == 0 || size > MAX_FRAME_BYTES)
            fail("a frame", "it is empty or too long");
        unsigned char *body = need(size, 1);
        struct value message;
        if (!receive(connection, body, size))
            fail("a frame", "it is cut off");
        const char *wrong = read_body(body, size, &message);
        if (wrong != NULL)
            fail("a frame", wrong);
        answer(connection, &message, game, nonce, choose);
        release(&message);
        free(body);
    }
    close(connection);
}
