/*
 * pages.h: the folder of the slot pages, state_dir/slots.
 */
#ifndef LATERD_PAGES_H
#define LATERD_PAGES_H

#include "keeper/keeper.h"

/* Makes state_dir and the folder in it if they are missing, and writes the folder's path into
 * `folder`. Returns 0, or -1 with *err. */
int pages_make_folder(const char *state_dir, char *folder, size_t room, struct later_error *err);

/* Could it make state_dir, or is it there? Makes nothing. Who asks may be another user than
 * laterd's, as root is, so this says nothing of permissions. Returns 0, or -1 with *err. */
int pages_may_make(const char *state_dir, struct later_error *err);

/* If a laterd was killed with all its workers, its pages are still there. Hands them to the keeper,
 * which settles them at once. Pages that cannot be read are removed. */
void pages_adopt(const char *folder, struct keeper *keeper);

#endif
