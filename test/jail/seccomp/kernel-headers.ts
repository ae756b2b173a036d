/** The system calls that the kernel's headers know, by name. arm64 uses the generic table, which other machines' headers carry too. */
import { readFileSync } from 'node:fs'

import type { Architecture } from '../../../src/jail/seccomp/architectures.ts'

export const headers: Record<Architecture, string> = {
  x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
  arm64: '/usr/include/asm-generic/unistd.h',
}

// Names in the generic table that are not calls of arm64: the number of calls, and a mark for numbers of other
// architectures.
const notCalls = new Set(['syscalls', 'arch_specific_syscall'])

export function readNumbers(header: string): ReadonlyMap<string, number> {
  const lines = readFileSync(header, 'utf8').matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$/gm)
  const entries = Array.from(lines, ([, name = '', number]) => [name, Number(number)] as const)
  return new Map(entries.filter(([name]) => !notCalls.has(name)))
}

/** 403 to 423 are the 64-bit time calls of 32-bit architectures. */
export function isOf32Bit(number: number): boolean {
  return number >= 403 && number <= 423
}
