/* SHA-256: the standard library does not have it. */
#ifndef SHA256_H
#define SHA256_H

/* Writes the hash of a text of at most 200 bytes, in hex. */
void sha256_hex(const char *text, char hex[65]);

#endif
