/*
 * Files that the host puts into the cell.
 */
#ifndef LAZARET_PUT_H
#define LAZARET_PUT_H
#include "frames.h"

bool put_file(struct reader *request); /* false when it is malformed */

#endif
