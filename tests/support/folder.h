/*
 * folder.h: what is in a folder.
 */
#ifndef FOLDER_H
#define FOLDER_H

/* Removes the folder and everything in it. *folder becomes "". Nothing is done if it is "". */
void folder_remove(char *folder);

/* Returns how many files this process has open. */
int folder_open_files(void);

#endif
