/*
 * Claims of host ids: a lock on those bytes of a file whose numbers the ids are. The file was opened by the host, and
 * such a lock belongs to whoever has it open, not to who set it: it stays when this program ends, until the host ends
 * or closes the file. Only somebody who can open the file can be in the way.
 * Source: fcntl(2), "Open file description locks".
 */
#include "build/claims.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { CLAIM_BLOCKS_MAX = 4096 }; /* looked at in one go */

static bool claim(uint64_t first, uint32_t ids) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)first, .l_len = ids};
  if (fcntl(CHANNEL_FD, F_OFD_SETLK, &lock) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) fail("claim host ids");
  return false;
}

/* Takes the first block that nobody has, tells the host which, and ends. The file is in the place of the channel. */
void step_claim_ids(struct reader *record) {
  uint32_t first = take_u32(record);
  uint32_t ids = take_u32(record);
  uint32_t blocks = take_u32(record);
  require_whole(record);
  errno = EPROTO;
  if (ids == 0 || blocks > CLAIM_BLOCKS_MAX) fail("read a claim");
  for (uint32_t block = 0; block < blocks; block++) {
    if (!claim(first + (uint64_t)block * ids, ids)) continue;
    char facts[32];
    uint32_t length = (uint32_t)snprintf(facts, sizeof facts, "block=%u\n", block);
    (void)write_frame(CONTROL_FD, (struct frame){.type = FRAME_READY, .length = length}, facts);
    _exit(0);
  }
  errno = EAGAIN;
  fail("claim host ids");
}
