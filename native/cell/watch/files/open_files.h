/*
 * How many files the cell's processes have open together. Uncounted, they would use up a table of the whole machine
 * (fs.file-max).
 */
#ifndef LAZARET_OPEN_FILES_H
#define LAZARET_OPEN_FILES_H
#include <stdint.h>

uint64_t open_files(void); /* as of the last count, which is made a few times a second */

#endif
