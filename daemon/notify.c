/* notify.c: sd_notify. */
#include "notify.h"

#include "base/clock.h"

#ifdef HAVE_SYSTEMD
#include <stdint.h>
#include <systemd/sd-daemon.h>
#else
#define sd_notify(unset, state)        ((void)(state))
#define sd_notifyf(unset, format, arg) ((void)(arg))
#endif

void notify_ready(void)
{
    sd_notify(0, "READY=1\nSTATUS=");
}

void notify_waiting(void)
{
    sd_notify(0, "STATUS=waiting for Redis\nEXTEND_TIMEOUT_USEC=30000000");
}

void notify_reloading(void)
{
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)(later_clock() * 1e6));
}

void notify_stopping(void)
{
    sd_notify(0, "STOPPING=1");
}

void notify_alive(void)
{
    sd_notify(0, "WATCHDOG=1");
}
