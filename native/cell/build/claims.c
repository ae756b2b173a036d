/*
 * Claims of host ids. A claim is a lock on a range of bytes in a file; the offset of a byte is the id. The host opened
 * the file, and such a lock belongs to the open file, not to the process that set it. So it stays when this program
 * ends, until the host ends or closes the file. Only a process that can open the file can interfere.
 * Source: fcntl(2), "Open file description locks"; getpriority(2).
 */
#include "build/claims.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CLAIM_BLOCKS_MAX = 4096 }; /* checked by one launcher */

static bool claim(uint64_t first, uint32_t ids) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)first, .l_len = ids};
  if (fcntl(CHANNEL_FD, F_OFD_SETLK, &lock) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) fail("claim host ids");
  return false;
}

static void release(uint64_t first, uint32_t ids) {
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = (off_t)first, .l_len = ids};
  if (fcntl(CHANNEL_FD, F_OFD_SETLK, &lock) != 0) fail("release host ids");
}

/* Guests may outlive a host that was killed. getpriority(2) finds them in any namespace. */
static bool is_idle(uint64_t first, uint32_t ids) {
  for (uint32_t id = 0; id < ids; id++) {
    errno = 0;
    (void)getpriority(PRIO_USER, (id_t)(first + id));
    if (errno != ESRCH) return false;
  }
  return true;
}

/* Takes the first free block, reports it to the host, and ends. The host passes the file as CHANNEL_FD. */
void step_claim_ids(struct reader *record) {
  uint32_t first = take_u32(record);
  uint32_t ids = take_u32(record);
  uint32_t blocks = take_u32(record);
  bool must_be_idle = take_u32(record) != 0;
  require_whole(record);
  errno = EPROTO;
  if (ids == 0 || blocks > CLAIM_BLOCKS_MAX) fail("read a claim");
  for (uint32_t block = 0; block < blocks; block++) {
    uint64_t start = first + (uint64_t)block * ids;
    if (!claim(start, ids)) continue;
    if (must_be_idle && !is_idle(start, ids)) {
      release(start, ids);
      continue;
    }
    char facts[32];
    uint32_t length = (uint32_t)snprintf(facts, sizeof facts, "block=%u\n", block);
    (void)write_frame(CONTROL_FD, (struct frame){.type = FRAME_READY, .length = length}, facts);
    _exit(0);
  }
  errno = EAGAIN;
  fail("claim host ids");
}
