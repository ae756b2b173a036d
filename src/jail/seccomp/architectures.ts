/**
 * What the filter has to know about each processor architecture: its name for the kernel, and which system call numbers
 * were reviewed. Other numbers get ENOSYS.
 */
export type Architecture = 'x64' | 'arm64'

export interface ArchitectureFacts {
  /** AUDIT_ARCH_* of <linux/audit.h>: machine, 64-bit and little-endian flags. A call under any other value kills. */
  readonly auditArchitecture: number
  /**
   * The newest call this policy was reviewed against: file_setattr of Linux 6.17. Everything above is ENOSYS until
   * someone reads what it does: listns (470) would list the machine's namespaces, rseq_slice_yield (471) is a hint
   * that callers must do without anyway. x32 calls (number | 0x40000000) are above it too.
   */
  readonly newestReviewed: number
  /**
   * First and last number of each hole in the table. They are refused like unknown numbers, because holes do get
   * filled: x86-64 gave 335 and 336 away years after 450.
   */
  readonly unassigned: readonly (readonly [first: number, last: number])[]
}

export const architectures: Readonly<Record<Architecture, ArchitectureFacts>> = {
  x64: { auditArchitecture: 0xc000003e, newestReviewed: 469, unassigned: [[337, 423]] },
  arm64: {
    auditArchitecture: 0xc00000b7,
    newestReviewed: 469,
    // prettier-ignore
    unassigned: [[244, 259], [295, 423]],
  },
}
