/** How much room files take on a tmpfs. Source: tmpfs(5). */

/** A file takes whole pages. */
const pageBytes = 4096
/** An inode costs about 1 KiB of kernel memory that no size limit counts: one for each 8 KiB is plenty for sources. */
const bytesPerInode = 8192
const inodesMin = 1024

export function onDisk(bytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes
}

/** How many files and folders fit into a tmpfs of this size, its root included. */
export function inodesMax(bytes: number): number {
  return Math.max(inodesMin, Math.floor(bytes / bytesPerInode))
}

/** Mount options for a tmpfs of this size. */
export function tmpfsSize(bytes: number): string {
  return `size=${bytes},nr_inodes=${inodesMax(bytes)}`
}
