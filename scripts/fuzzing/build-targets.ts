/**
 * Builds the fuzz targets: the launcher's own files, with every system call replaced by a call of a fake kernel, under
 * ASan and UBSan. An object that still refers to anything that could reach the real kernel is refused, so that no
 * input can mount, unlink, kill or fork anything.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

import { sourcesOf } from './targets.ts'
import type { Target } from './targets.ts'

const root = join(import.meta.dirname, '../..')
const cell = join(root, 'native/cell')
const fuzz = join(root, 'native/fuzz')

/** `fuzz` needs clang and its runtime; `replay` any compiler with sanitizers; `coverage` clang, and counts lines. */
export type Kind = 'fuzz' | 'replay' | 'coverage'

interface Flags {
  readonly compiler: string
  readonly compile: readonly string[]
  readonly link: readonly string[]
}

const sanitizers = '-fsanitize=address,undefined'
const flagsOf: Readonly<Record<Kind, Flags>> = {
  fuzz: {
    compiler: 'clang',
    compile: ['-fsanitize=fuzzer-no-link', sanitizers, '-fno-sanitize-recover=all'],
    link: ['-fsanitize=fuzzer', sanitizers],
  },
  replay: {
    compiler: process.env['CC'] ?? 'cc',
    compile: [sanitizers, '-fno-sanitize-recover=all'],
    link: [sanitizers],
  },
  coverage: {
    compiler: 'clang',
    compile: ['-fprofile-instr-generate', '-fcoverage-mapping'],
    link: ['-fprofile-instr-generate'],
  },
}
const always = ['-std=gnu17', '-D_GNU_SOURCE', '-g', '-O1', '-Wall', '-Wextra', '-Wconversion', '-Werror']

/** Why targets of this kind cannot be built here, or undefined. */
export function findObstacle(kind: Kind): string | undefined {
  const { compiler, compile, link } = flagsOf[kind]
  const isFuzzer = kind === 'fuzz'
  const source = isFuzzer
    ? 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return data && size ? 0 : 0; }'
    : 'int main(void) { return 0; }'
  const { error, status } = spawnSync(compiler, ['-x', 'c', ...compile, ...link, '-o', '/dev/null', '-'], {
    input: source,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  if (error !== undefined) return `${compiler} is not installed`
  if (status === 0) return undefined
  return isFuzzer ? `${compiler} has no libFuzzer (libclang-rt-dev)` : `${compiler} has no sanitizers`
}

/** The programs by target name. The caller removes `folder`. */
export function buildTargets(
  kind: Kind,
  wanted: readonly Target[],
  folder: string,
): ReadonlyMap<string, string> {
  const sources = listSources()
  const objects = new Map(sources.map((name) => [name, compileOne(kind, join(cell, `${name}.c`), folder)]))
  const kernel = ['fake-kernel', 'fake-processes', 'fake-files'].map((name) =>
    compileOne(kind, join(fuzz, `${name}.c`), folder),
  )
  const main = kind === 'fuzz' ? [] : [compileOne(kind, join(fuzz, 'replay.c'), folder)]
  return new Map(
    wanted.map((target) => {
      const own = compileOne(kind, join(fuzz, `target-${target.name}.c`), folder)
      const parts = [own, ...kernel, ...sourcesOf(target, sources).map((name) => objects.get(name) ?? '')]
      requireHarmless(parts)
      const program = join(folder, `${target.name}-${kind}`)
      const { compiler, link } = flagsOf[kind]
      execFileSync(compiler, [...link, '-o', program, ...parts, ...main], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      return [target.name, program]
    }),
  )
}

export function listSources(): string[] {
  return readdirSync(cell, { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith('.c'))
    .map((name) => name.slice(0, -2))
    .sort()
}

/** The fake kernel and the replayer keep the real names; everything else is redirected. */
function compileOne(kind: Kind, source: string, folder: string): string {
  const name = relative(join(root, 'native'), source).slice(0, -2).replaceAll('/', '-')
  const isOfLauncher = source.startsWith(cell) || name.startsWith('fuzz-target-')
  const object = join(folder, `${name}.${kind}.o`)
  const { compiler, compile } = flagsOf[kind]
  const redirected = isOfLauncher ? ['-include', join(fuzz, 'redirect.h')] : []
  const included = ['-I', cell, '-I', fuzz, '-I', join(root, 'native')]
  execFileSync(compiler, [...always, ...compile, ...redirected, ...included, '-c', source, '-o', object], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return object
}

/** Functions that only compute, and those that a finding needs to print its message and stop. */
const harmless = new Set(
  `__errno_location __ctype_b_loc bcmp memchr memcmp memcpy memmove memset strchr strcmp strcspn strlen strncmp strrchr
  strstr strtol strtoul strtoull snprintf sysconf sigaddset sigemptyset malloc free longjmp _setjmp qsort abort fputs fputc
  fwrite stdout stderr explicit_bzero __stack_chk_fail __isoc23_strtol __isoc23_strtoull
  __cmsg_nxthdr`
    .trim()
    .split(/\s+/),
)
const ofTheCompiler =
  /^__(asan|ubsan|sanitizer|sancov|start___sancov|stop___sancov|llvm|profd|profc)|^_GLOBAL_OFFSET/

/** Throws an error with the names of functions that could reach the real kernel. */
export function requireHarmless(objects: readonly string[]): void {
  const listed = execFileSync('nm', ['--format=posix', ...objects], { encoding: 'utf8', maxBuffer: 1 << 26 })
  const symbols = listed
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, type]) => type !== undefined)
  const defined = new Set(
    symbols.filter(([, type]) => /[A-TVWX]/i.test(type ?? '') && type !== 'U').map(([name]) => name),
  )
  const others = symbols
    .filter(([name = '', type]) => type === 'U' && !defined.has(name))
    .map(([name = '']) => name)
    .filter((name) => !harmless.has(name) && !ofTheCompiler.test(name))
  if (others.length === 0) return
  const names = [...new Set(others)].join(', ')
  throw new Error(
    `A fuzz target would call ${names} for real. Redirect it in native/fuzz/redirect.h and give it an answer in ` +
      'native/fuzz/fake-kernel.c; or, if it only computes, list it in scripts/fuzzing/build-targets.ts.',
  )
}
