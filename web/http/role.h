/*
 * role.h: what somebody may do. Pure.
 */
#ifndef LATER_WEB_ROLE_H
#define LATER_WEB_ROLE_H

/* Each may do what those before may, too. */
enum role {
    ROLE_NOBODY,
    ROLE_READER,   /* looks */
    ROLE_OPERATOR, /* acts on jobs and queues that are there */
    ROLE_ADMIN,    /* also makes jobs and edits them, drops all of a state, and runs schedules */
    ROLES
};

extern const char *const role_names[ROLES];

/* ROLE_READER if the name is none of these, or NULL. */
enum role role_of(const char *name);

/* The one that may do less. */
enum role role_least(enum role a, enum role b);

#endif
