import { decodeValue } from '../../../src/core/values/values.ts'
import type { RuntimePrograms } from './programs.ts'

const MiB = 1024 * 1024
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const shellPrograms: RuntimePrograms = {
  runtime: 'shell',
  language: 'shell',
  print: (text) => `printf %s ${quote(text)}`,
  printToBoth: 'echo out 1; echo err 1 >&2; echo out 2; echo err 2 >&2',
  exitWith: (exitCode) => `exit ${exitCode}`,
  copyStdin: 'cat',
  printArguments: `for argument in "$@"; do printf '%s\\0' "$argument"; done`,
  printEnvironment: 'cat /proc/$$/environ',
  printFiles: (...paths) => `exec cat -- ${paths.map(quote).join(' ')}`,
  printOwnership: (...paths) => `stat -c '%a %u %g' -- ${paths.map(quote).join(' ')}`,
  printLinks: (...paths) => `exec readlink -- ${paths.map(quote).join(' ')}`,
  printNames: (...paths) => paths.map((path) => `ls -A -- ${quote(path)}`).join('\n'),
  printBytes: (bytes) =>
    `printf '${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`,
  fill: (bytes) => `head -c ${bytes} /dev/zero | tr '\\0' x`,
  printThenLoop: (text) => `printf %s ${quote(text)}; while :; do :; done`,
  printThenSleep: (text) => `printf %s ${quote(text)}; exec sleep infinity`,
  loopInChildren: (children, text) =>
    `for ((i = 0; i < ${children}; i++)); do (while :; do :; done) & done; printf %s ${quote(text)}; wait`,
  dieBy: (signal, text) => `printf %s ${quote(text)}; kill -${signal.slice(3)} $$`,
  leaveProcessBehind: 'sleep infinity & echo parent is done',
  allocateForever: 'text=xxxxxxxxxxxxxxxx; while :; do text=$text$text; done',
  startMs: 200,
  memoryBytes: 64 * MiB,
  fillDisk: 'cat /dev/zero > full',
  // A shell that cannot fork sleeps and retries, for half a minute in total.
  spawnForever: null,
  spy: [
    'cd /proc; for ((n = $$ - 300; n < $$ + 50; n++)); do cat $n/environ; done 2>/dev/null',
    'cat /proc/[0-9]*/environ 2>/dev/null',
    'cd "$HOME"; for ((n = 0; n < 300; n++)); do ls -A ../../run-$n/ ../../run-$n/workspace; done 2>/dev/null',
    'ls -AR .. ../.. ../../.. /tmp 2>/dev/null; exit 0',
  ].join('\n'),
  errors: null,
  value: null,
  input: {
    code: 'cat "$INPUT"',
    // Text and bytes are written to the file unchanged; everything else in the tagged encoding.
    received: ({ stdout, bytes }, sent) => {
      if (sent instanceof Uint8Array) return bytes
      return typeof sent === 'string' ? stdout : decodeValue(JSON.parse(stdout))
    },
  },
  console: null,
  toolchainOnPath: false,
}
