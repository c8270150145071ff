/* spell.c: texts and whole numbers into buffers. */
#include "base/spell.h"

#include <string.h>

size_t later_spell_text(char *out, size_t size, const char *text)
{
    size_t len = strnlen(text, size - 1);

    memcpy(out, text, len);
    out[len] = '\0';
    return len;
}

size_t later_spell_number(char out[LATER_SPELLED], uint64_t number)
{
    size_t len = 1;

    for (uint64_t rest = number; rest >= 10; rest /= 10)
        len++;
    out[len] = '\0';
    for (char *digit = out + len; digit > out; number /= 10)
        *--digit = (char)('0' + number % 10);
    return len;
}
