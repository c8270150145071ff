/* notify.h: tells systemd our state (sd_notify(3)). It does nothing without systemd or libsystemd.
 * Only this module talks to systemd. */
#ifndef LATERD_NOTIFY_H
#define LATERD_NOTIFY_H

void notify_ready(void);
/* We are not ready yet, but not stuck either, so systemd should not give up. Called every second or
 * so. */
void notify_waiting(void);
void notify_reloading(void);
void notify_stopping(void);
void notify_alive(void); /* the watchdog */

#endif
