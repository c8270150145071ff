/* announce_load.c: how busy this laterd has been, and of which pools it is made. */
#include "queues/announce_load.h"

#include <string.h>

void announce_load_look(struct announce_load *load, double now, uint32_t running)
{
    struct announce_minute *minutes = load->minutes;
    uint64_t minute;

    if (load->began <= 0)
        load->began = now;
    minute = now > load->began ? (uint64_t)((now - load->began) / 60) : 0;
    if (minute >= load->minute + ANNOUNCE_MINUTES) {
        memset(minutes, 0, sizeof load->minutes);
        load->minute = minute;
    }
    while (load->minute < minute)
        minutes[++load->minute % ANNOUNCE_MINUTES] = (struct announce_minute){ 0 };
    minutes[minute % ANNOUNCE_MINUTES].sum += running;
    minutes[minute % ANNOUNCE_MINUTES].looks++;
}

void announce_load_write(const struct announce_load *load, FILE *out)
{
    uint64_t last = load->minute, first = last < ANNOUNCE_MINUTES ? 0 : last - ANNOUNCE_MINUTES + 1;

    if (load->began <= 0)
        return;
    for (uint64_t m = first; m <= last; m++) {
        const struct announce_minute *minute = &load->minutes[m % ANNOUNCE_MINUTES];

        fputs(m == first ? ",\"busy\":[" : ",", out);
        if (minute->looks)
            fprintf(out, "%.4g", (double)minute->sum / minute->looks);
        else
            fputs("null", out);
    }
    fputc(']', out);
}

void announce_load_pools(const struct config *config, FILE *out)
{
    for (uint32_t i = 0; i < config->pool_count; i++)
        fprintf(out, "%s{\"name\":\"%s\",\"workers\":%u}", i ? "," : ",\"pools\":[",
                config->pools[i].name, (unsigned)config->pools[i].workers);
    if (config->pool_count)
        fputc(']', out);
}
