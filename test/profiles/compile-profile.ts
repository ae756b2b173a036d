/**
 * Compiles a container engine's seccomp profile to the filter that the engine would apply to an unprivileged container.
 */
import { execFileSync } from 'node:child_process'

import type { DockerProfile, SeccompRule } from '../../scripts/profiles/seccomp.ts'
import { and, answer, encode, ifAtLeast, ifEqual, load, skip } from '../../src/jail/seccomp/instruction.ts'
import type { Instruction } from '../../src/jail/seccomp/instruction.ts'
import { architectures } from '../../src/jail/seccomp/architectures.ts'

type RuleArgument = NonNullable<SeccompRule['args']>[number]

/** The capabilities in profiles' conditions that are in the bounding set of Docker's containers. */
const dockerCapabilities = ['CAP_SYS_CHROOT']
const ownArchitecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

const allow = 0x7fff_0000
const fail = (errno: number) => 0x0005_0000 | errno
const offsets = { number: 0, architecture: 4, arguments: 16 }

/**
 * System call numbers by name, from this machine's headers. A name that they lack is not compiled, so the call is
 * refused.
 */
export function readSyscallNumbers(): ReadonlyMap<string, number> {
  const macros = execFileSync('cc', ['-E', '-dM', '-include', 'sys/syscall.h', '-x', 'c', '/dev/null'], {
    encoding: 'utf8',
  })
  return new Map(
    [...macros.matchAll(/^#define __NR_(\w+) (\d+)$/gm)].map(([, name = '', number]) => [
      name,
      Number(number),
    ]),
  )
}

/** The rules that apply in such a container, whatever its user. */
export function rulesInForce({ syscalls }: DockerProfile): SeccompRule[] {
  return syscalls.filter(({ includes = {}, excludes = {} }) => {
    const hasAll = (includes.caps ?? []).every((name) => dockerCapabilities.includes(name))
    const isHere = includes.arches?.includes(ownArchitecture) ?? true
    const isExcluded =
      (excludes.caps?.some((name) => dockerCapabilities.includes(name)) ?? false) ||
      (excludes.arches?.includes(ownArchitecture) ?? false)
    return hasAll && isHere && !isExcluded
  })
}

export function compileProfile(profile: DockerProfile): Uint8Array {
  const numbers = readSyscallNumbers()
  const program: Instruction[] = [
    load(offsets.architecture),
    ifEqual(architectures[process.arch === 'arm64' ? 'arm64' : 'x64'].auditArchitecture, 1, 0),
    answer(fail(38)),
  ]
  for (const rule of rulesInForce(profile)) {
    const verdict = rule.action === 'SCMP_ACT_ALLOW' ? allow : fail(rule.errnoRet ?? 1)
    for (const name of rule.names) {
      const number = numbers.get(name)
      if (number !== undefined) program.push(...compileRule(number, rule.args ?? [], verdict))
    }
  }
  return encode([...program, answer(fail(profile.defaultErrnoRet))])
}

function compileRule(number: number, rules: readonly RuleArgument[], verdict: number): Instruction[] {
  const body = [...rules.flatMap(compileArgument), answer(verdict)]
  // A comparison that fails jumps to the end of the body. Each jump gets its distance here.
  const jumps = body.map((instruction, index) =>
    instruction === otherwise ? skip(body.length - index - 1) : instruction,
  )
  return [load(offsets.number), ifEqual(number, 0, body.length), ...jumps]
}

/** A placeholder for a jump over the rest of the rule. */
const otherwise = skip(0)

/** Compares the low half: the arguments that profiles check have only 32 bits. */
function compileArgument({ index, value, op }: RuleArgument): Instruction[] {
  const argument = load(offsets.arguments + 8 * index)
  switch (op) {
    case 'SCMP_CMP_EQ':
      return [argument, ifEqual(value, 1, 0), otherwise]
    case 'SCMP_CMP_LT':
      return [argument, ifAtLeast(value, 0, 1), otherwise]
    case 'SCMP_CMP_GT':
      return [argument, ifAtLeast(value + 1, 1, 0), otherwise]
    case 'SCMP_CMP_MASKED_EQ': // the second value is absent if it is 0
      return [argument, and(value), ifEqual(0, 1, 0), otherwise]
    default:
      throw new Error(`A profile compares with ${op}, which nobody has read about here yet.`)
  }
}
