/** What the kernel has cached of a file. Only for files on a disk that no process has mapped. */
import { execFileSync } from 'node:child_process'

const dropOut = `
import os, sys
file = os.open(sys.argv[1], os.O_RDWR)
os.fdatasync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)`

export function dropFromCache(path: string): void {
  execFileSync('python3', ['-c', dropOut, path])
}

/** mincore(2) tells only those who may write to the file. */
const countPages = `
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(sys.argv[1], os.O_RDWR)
size = os.fstat(file).st_size
mapped = mmap.mmap(file, size)
pages = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
begin = ctypes.byref(ctypes.c_char.from_buffer(mapped))
if libc.mincore(begin, ctypes.c_size_t(size), pages) != 0: sys.exit(os.strerror(ctypes.get_errno()))
print(sum(page & 1 for page in pages) / len(pages))`

/** From 0 to 1. */
export function cachedShare(path: string): number {
  return Number(execFileSync('python3', ['-c', countPages, path], { encoding: 'utf8' }))
}
