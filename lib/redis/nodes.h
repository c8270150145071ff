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
        char host[256], port[6]; /* host "": a number that is free */
        bool master;             /* it has slots */
        bool named;              /* by the last answer, or by a redirection since */
        bool seed;               /* it is in the URL, and so never forgotten */
    } list[LATER_NODES_MAX];
    int count;
    uint8_t of[LATER_SLOTS]; /* the node of a slot, from 1; 0 = nobody */
};

/* The number of a node, which is entered where it is new; LATER_NO_NODE where there are too many,
 * or the address cannot be one. */
int later_nodes_enter(struct later_nodes *nodes, const char *host, const char *port);

/* The node that has a slot, or LATER_NO_NODE. */
int later_nodes_of(const struct later_nodes *nodes, int slot);

/* Node number `node` (entered, or LATER_NO_NODE) has the slot now. */
void later_nodes_move(struct later_nodes *nodes, int slot, int node);

/* Takes CLUSTER SLOTS' answer, which came from the node `from`: that one's host stands for an empty
 * one. Replicas are entered too, without slots. Returns 1 where a slot has moved, 0 where all was
 * known, -1 where nobody has any slot, or it is no such answer; then nothing has changed. */
int later_nodes_take(struct later_nodes *nodes, const struct later_reply *reply, int from);

/* Does the last answer not name it any more? Then, and once nothing refers to it, its number may be
 * given to another. */
bool later_nodes_is_gone(const struct later_nodes *nodes, int node);
void later_nodes_forget(struct later_nodes *nodes, int node);

/* Reads "MOVED 3999 127.0.0.1:6381" or "ASK …", which came from the node `from`: the slot into
 * *slot; the node, entered where it is new, is returned, or LATER_NO_NODE where it is neither. */
int later_nodes_redirected(struct later_nodes *nodes, const char *text, int from, int *slot);

#endif
