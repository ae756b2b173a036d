/** The figures of the disk limit: how much room files take, on a tmpfs or in a folder that is watched. Source: tmpfs(5). */

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

/** How many files and folders have room beside so many bytes, the folder itself included. */
export function inodesMax(bytes: number): number {
  return Math.max(inodesMin, Math.floor(bytes / bytesPerInode))
}

export function diskRoom(bytes: number): DiskRoom {
  return { bytesMax: bytes, entriesMax: inodesMax(bytes) }
}

/** Enough for /dev/shm's usual tenants (semaphores, multiprocessing) and below any sensible memory limit. */
const sharedMemoryBytesMax = 64 * 1024 * 1024

export function sharedMemoryRoom(diskBytes: number): DiskRoom {
  return diskRoom(Math.min(sharedMemoryBytesMax, diskBytes))
}

/**
 * What a sandbox's files in memory take together must leave memory for the command that removes them, so all but its
 * workspace have a quarter of the disk limit each.
 */
const passingShare = 4

export function passingBytes(diskBytes: number): number {
  return diskBytes / passingShare
}

/** Mount options for a tmpfs of this size. */
export function tmpfsSize({ bytesMax, entriesMax }: DiskRoom): string {
  return `size=${bytesMax},nr_inodes=${entriesMax}`
}
