/*
 * size.h: prints queues with their sizes and counters, for `later size` and `later status`.
 */
#ifndef LATER_CLI_SIZE_H
#define LATER_CLI_SIZE_H

#include "queue_list.h"
#include "status/served.h"

/* Prints the sizes of these queues. served: who serves them; NULL = not known. Returns 0;
 * LATER_E_NONE if a queue that was named is unknown, after saying so; or -1 with *err. */
int size_print(struct cli *cli, const struct queue_list *list, const struct served *served,
               struct later_error *err);

#endif
