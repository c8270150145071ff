/* notify.h: tells systemd our state (sd_notify(3)); without systemd or libsystemd, does nothing.
 * systemd's only door. */
#ifndef LATERD_NOTIFY_H
#define LATERD_NOTIFY_H

void notify_ready(void);
/* Not ready yet, and not stuck: it takes as long as it takes. Called every second or so. */
void notify_waiting(const char *what);
void notify_reloading(void);
void notify_stopping(void);
void notify_alive(void); /* the watchdog */

#endif
