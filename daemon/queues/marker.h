/*
 * marker.h: notes in later:marks that a laterd has started, stopped, loaded its configuration
 * again, or had no answer from Redis (lib's history/marks.h). Announce calls it.
 */
#ifndef LATERD_MARKER_H
#define LATERD_MARKER_H

#include "config/config.h"
#include "history/marks.h"
#include "link/link.h"

struct marker {
    double started;  /* by Redis's clock; 0: nothing was noted yet */
    double answered; /* later_clock() at Redis's last answer; 0: none yet */
    bool looked;     /* whether others were alive when we started is noted */
};

/* Writes a note, if the configuration wants a history. now: Redis's clock; 0 = not known: nothing
 * is written. Sends, but does not flush. */
void marker_note(const struct config *config, struct link *link, enum later_note note, double now,
                 const char *words);

/* Call it before each of our lines is written: the first time, it notes that we have started. */
void marker_beat(struct marker *marker, const struct config *config, struct link *link, double now);

/* Redis has answered, as it does each `every` seconds: was it away for long? */
void marker_answered(struct marker *marker, const struct config *config, struct link *link,
                     double now, double every);

/* `hosts` answers HGETALL of later:hosts, once we are in it as `field`. The first time, it notes if
 * no other laterd was alive when we started. */
void marker_look(struct marker *marker, const struct config *config, struct link *link, double now,
                 const struct later_reply *hosts, const char *field);

/* Returns a number of a line of later:hosts; `otherwise` if it has none. */
double marker_number(const struct later_reply *line, const char *name, double otherwise);

#endif
