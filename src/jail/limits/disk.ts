/** The figures of the disk limit: the space of files, on a tmpfs or in a watched folder. Source: tmpfs(5). */

/** A file takes whole pages. */
const pageBytes = 4096
/** An inode costs about 1 KiB of kernel memory that no size limit counts: one for each 8 KiB is plenty for sources. */
const bytesPerInode = 8192
const inodesMin = 1024

/** Room for files. */
export interface DiskRoom {
  readonly bytesMax: number
  readonly entriesMax: number
}

export function onDisk(bytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes
}

/** The number of files and folders, including the root folder, for this many bytes. */
export function inodesMax(bytes: number): number {
  return Math.max(inodesMin, Math.floor(bytes / bytesPerInode))
}

export function diskRoom(bytes: number): DiskRoom {
  return { bytesMax: bytes, entriesMax: inodesMax(bytes) }
}

/** Enough for the usual users of /dev/shm (semaphores, multiprocessing), and below any sensible memory limit. */
const sharedMemoryBytesMax = 64 * 1024 * 1024

export function sharedMemoryRoom(diskBytes: number): DiskRoom {
  return diskRoom(Math.min(sharedMemoryBytesMax, diskBytes))
}

/**
 * A sandbox's files in memory must leave enough memory for the command that removes them, so all but its workspace get
 * a quarter of the disk limit each.
 */
const passingShare = 4
const passingBytesMax = 512 * 1024 * 1024

export function passingBytes(diskBytes: number): number {
  return Math.min(diskBytes / passingShare, passingBytesMax)
}

/** Mount options for a tmpfs of this size. */
export function tmpfsSize({ bytesMax, entriesMax }: DiskRoom): string {
  return `size=${bytesMax},nr_inodes=${entriesMax}`
}
