/* screen.c: the terminal in full-screen mode. */
#include "top/screen.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define ENTER    "\033[?1049h\033[?25l" /* the alternate screen, without a cursor */
#define LEAVE    "\033[?25h\033[?1049l"
#define PARTS    8  /* bytes of the longest known key */
#define TOGETHER 25 /* ms; bytes that follow an Escape within this time belong to the same key */

static void screen_begin(const struct screen *screen)
{
    struct termios raw = screen->before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    fputs(ENTER, stdout);
    fflush(stdout);
}

static void screen_end(const struct screen *screen)
{
    fputs(LEAVE, stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->before);
}

int screen_open(struct screen *screen, struct later_error *err)
{
    static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP };
    sigset_t set;

    if (tcgetattr(STDIN_FILENO, &screen->before) < 0)
        return later_fail(err, LATER_E_USAGE, "standard input is not a terminal; use --once");
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(&set, taken[i]);
    sigprocmask(SIG_BLOCK, &set, &screen->mask);
    screen->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (screen->signals < 0) {
        sigprocmask(SIG_SETMASK, &screen->mask, NULL);
        return later_fail(err, LATER_E_SYSTEM, "signals cannot be read");
    }
    screen_begin(screen);
    return 0;
}

void screen_close(struct screen *screen)
{
    screen_end(screen);
    close(screen->signals);
    sigprocmask(SIG_SETMASK, &screen->mask, NULL);
}

void screen_size(size_t *width, size_t *height)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;

    *width = known ? size.ws_col : 80;
    *height = known && size.ws_row > 0 ? size.ws_row : 24;
}

/* --- events --- */

static int take_signal(struct screen *screen)
{
    struct signalfd_siginfo info;

    if (read(screen->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return SCREEN_OTHER;
    if (info.ssi_signo == SIGWINCH)
        return SCREEN_SIZE;
    if (info.ssi_signo != SIGTSTP)
        return SCREEN_END;
    screen_end(screen);
    raise(SIGSTOP);
    screen_begin(screen);
    return SCREEN_SIZE;
}

/* Returns the key for the bytes after an Escape. */
static int screen_key_of(const char *rest)
{
    static const struct {
        const char *rest;
        enum screen_event event;
    } keys[] = {
        { "[A", SCREEN_UP },         { "OA", SCREEN_UP },    { "[B", SCREEN_DOWN },
        { "OB", SCREEN_DOWN },       { "[D", SCREEN_LEFT },  { "OD", SCREEN_LEFT },
        { "[C", SCREEN_RIGHT },      { "OC", SCREEN_RIGHT }, { "[5~", SCREEN_PAGE_UP },
        { "[6~", SCREEN_PAGE_DOWN }, { "[H", SCREEN_HOME },  { "OH", SCREEN_HOME },
        { "[1~", SCREEN_HOME },      { "[F", SCREEN_LAST },  { "OF", SCREEN_LAST },
        { "[4~", SCREEN_LAST },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(rest, keys[i].rest) == 0)
            return (int)keys[i].event;
    }
    return SCREEN_OTHER;
}

static bool screen_is_last(char c, size_t len)
{
    return len >= 2 && ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '~');
}

static int take_escape(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    char rest[PARTS + 1] = "";
    size_t len = 0;

    while (len < PARTS && poll(&in, 1, TOGETHER) > 0 && read(STDIN_FILENO, rest + len, 1) == 1) {
        len++;
        if (screen_is_last(rest[len - 1], len))
            break;
    }
    rest[len] = '\0';
    return screen_key_of(rest);
}

static int take_key(void)
{
    unsigned char c;

    if (read(STDIN_FILENO, &c, 1) != 1)
        return SCREEN_END;
    if (c == '\033')
        return take_escape();
    return c >= SCREEN_KEYS && c < 0x7f ? c : SCREEN_OTHER;
}

int screen_wait(struct screen *screen, double seconds)
{
    struct pollfd from[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                             { .fd = screen->signals, .events = POLLIN } };

    if (poll(from, 2, seconds > 0 ? (int)(seconds * 1000) + 1 : 0) <= 0)
        return SCREEN_TIME;
    return from[1].revents ? take_signal(screen) : take_key();
}
