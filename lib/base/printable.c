/* printable.c: keeps harmful bytes from terminals. */
#include "base/printable.h"

#include <string.h>

size_t later_character(const char *bytes, size_t len, uint32_t *number)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *c = (const unsigned char *)bytes;
    size_t size;

    if (len == 0)
        return 0;
    size = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    *number = size < 2 ? *c : *c & (0x7fU >> size);
    if (size > len)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        *number = *number << 6 | (c[i] & 0x3fU);
    }
    /* Overlong, beyond Unicode, a surrogate. */
    if (size && (*number < least[size] || *number > 0x10ffff || (*number >> 11) == 0x1b))
        return 0;
    return size;
}

bool later_character_hidden(uint32_t number)
{
    return number < ' ' || (number >= 0x7f && number < 0xa0) ||
           (number >= 0x2028 && number <= 0x202e) || (number >= 0x2066 && number <= 0x2069);
}

char later_character_instead(size_t size, uint32_t number)
{
    return size && (number == '\t' || number == '\n' || number == '\r') ? ' ' : '?';
}

void later_make_printable(char *text)
{
    size_t left = strlen(text), size;
    char *to = text;

    for (const char *from = text; left > 0; from += size, left -= size) {
        uint32_t number;

        size = later_character(from, left, &number);
        if (size && !later_character_hidden(number)) {
            memmove(to, from, size);
            to += size;
        } else {
            *to++ = later_character_instead(size, number);
            size = size ? size : 1;
        }
    }
    *to = '\0';
}
