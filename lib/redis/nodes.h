/*
 * nodes.h: the nodes of a Redis Cluster, and which of them has which slot (pure): what CLUSTER
 * SLOTS and redirections say (Redis Cluster specification, "MOVED Redirection", "ASK redirection").
 */
#ifndef LATER_NODES_H
#define LATER_NODES_H

#include "redis/reply.h"
#include "redis/slot.h"

#define LATER_NODES_MAX 128
#define LATER_NO_NODE   (-1)

/* Plain data. Zeroed it is empty. A node keeps its number until it is forgotten. */
struct later_nodes {
    struct {
        char host[256], port[6]; /* host "": this number is free */
        bool master;             /* it has slots */
        bool named;              /* it was in the last answer, or in a redirection since */
        bool seed;               /* it is in the URL, and so never forgotten */
    } list[LATER_NODES_MAX];
    int count;
    uint8_t of[LATER_SLOTS]; /* the node of a slot, from 1; 0 = nobody */
};

/* Returns the number of a node, and enters it if it is new. LATER_NO_NODE if there are too many, or
 * if this cannot be an address. */
int later_nodes_enter(struct later_nodes *nodes, const char *host, const char *port);

/* Returns the node that has a slot, or LATER_NO_NODE. */
int later_nodes_of(const struct later_nodes *nodes, int slot);

/* Notes that `node` (entered, or LATER_NO_NODE) has the slot now. */
void later_nodes_move(struct later_nodes *nodes, int slot, int node);

/* Takes the answer of CLUSTER SLOTS from the node `from`, whose host stands for an empty one.
 * Replicas are entered too, without slots. Returns 1 if a slot has moved, 0 if all was known; -1 if
 * nobody has any slot, or it is not such an answer, and then nothing has changed. */
int later_nodes_take(struct later_nodes *nodes, const struct later_reply *reply, int from);

/* Is the node missing from the last answer? Then its number may be used for another, once nothing
 * refers to it. */
bool later_nodes_is_gone(const struct later_nodes *nodes, int node);
void later_nodes_forget(struct later_nodes *nodes, int node);

/* Reads "MOVED 3999 127.0.0.1:6381" or "ASK …" from the node `from`. Puts the slot into *slot, and
 * returns the node, entering it if it is new; LATER_NO_NODE if the text is neither. */
int later_nodes_redirected(struct later_nodes *nodes, const char *text, int from, int *slot);

#endif
