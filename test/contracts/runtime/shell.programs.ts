import { decodeValue } from '../../../src/core/values.ts'
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
  printFile: (path) => `cat -- ${quote(path)}`,
  printOwnership: (path) => `stat -c '%a %u %g' -- ${quote(path)}`,
  printLink: (path) => `readlink -- ${quote(path)}`,
  printNames: (path) => `ls -A -- ${quote(path)}`,
  printBytes: (bytes) => `printf '${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`,
  fill: (bytes) => `head -c ${bytes} /dev/zero | tr '\\0' x`,
  printThenLoop: (text) => `printf %s ${quote(text)}; while :; do :; done`,
  printThenSleep: (text) => `printf %s ${quote(text)}; exec sleep infinity`,
  loopInChildren: (children, text) =>
    `for ((i = 0; i < ${children}; i++)); do (while :; do :; done) & done; printf %s ${quote(text)}; wait`,
  dieBy: (signal, text) => `printf %s ${quote(text)}; kill -${signal.slice(3)} $$`,
  leaveProcessBehind: 'sleep infinity & echo parent is done',
  allocateForever: 'text=xxxxxxxxxxxxxxxx; while :; do text=$text$text; done',
  memoryBytes: 64 * MiB,
  fillDisk: 'cat /dev/zero > full',
  spawnForever: 'set -e; while :; do sleep infinity & done',
  spy: 'cat /proc/[0-9]*/environ 2>/dev/null; ls -A /tmp',
  errors: null,
  value: null,
  input: {
    code: 'cat "$INPUT"',
    // A text is the file as it is; everything else is the tagged encoding.
    received: ({ stdout }, sent) => (typeof sent === 'string' ? stdout : decodeValue(JSON.parse(stdout))),
  },
  console: null,
  toolchainOnPath: false,
}
