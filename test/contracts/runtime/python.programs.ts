import type { RuntimePrograms } from './programs.ts'

const MiB = 1024 * 1024
/** JSON strings are also Python literals, except for lone surrogates, which no program here has. */
const quote = (text: string): string => JSON.stringify(text)
const lines = (...text: readonly string[]): string => text.join('\n')

export const pythonPrograms: RuntimePrograms = {
  runtime: 'python',
  language: 'python',
  print: (text) => `print(${quote(text)}, end='')`,
  printToBoth: lines(
    'import sys',
    'for number in (1, 2):',
    "    print('out', number, flush=True)",
    "    print('err', number, file=sys.stderr, flush=True)",
  ),
  exitWith: (exitCode) => `import sys; sys.exit(${exitCode})`,
  copyStdin: 'import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)',
  printArguments: "import sys; sys.stdout.write(''.join(argument + '\\0' for argument in sys.argv[1:]))",
  printEnvironment:
    "import os\nprint(''.join(f'{name}={value}\\0' for name, value in os.environ.items()), end='')",
  printFiles: (...paths) =>
    `import sys\nfor path in ${JSON.stringify(paths)}: sys.stdout.buffer.write(open(path, 'rb').read())`,
  printOwnership: (...paths) =>
    lines(
      'import os',
      `for facts in map(os.stat, ${JSON.stringify(paths)}):`,
      "    print(f'{facts.st_mode & 0o7777:o} {facts.st_uid} {facts.st_gid}')",
    ),
  printLinks: (...paths) => `import os\nfor path in ${JSON.stringify(paths)}: print(os.readlink(path))`,
  printNames: (...paths) =>
    `import os\nfor path in ${JSON.stringify(paths)}: print('\\n'.join(os.listdir(path)))`,
  printBytes: (bytes) => `import sys; sys.stdout.buffer.write(bytes([${bytes.join(', ')}]))\nNone`,
  fill: (bytes) => `import sys; sys.stdout.write('x' * ${bytes})\nNone`,
  printThenLoop: (text) => `print(${quote(text)}, end='', flush=True)\nwhile True: pass`,
  printThenSleep: (text) =>
    `import time\nprint(${quote(text)}, end='', flush=True)\nwhile True: time.sleep(1000)`,
  loopInChildren: (children, text) =>
    lines(
      'import os',
      `for _ in range(${children}):`,
      '    if os.fork() == 0:',
      '        while True: pass',
      `print(${quote(text)}, end='', flush=True)`,
      'os.wait()',
    ),
  dieBy: (signal, text) =>
    `import os, signal; print(${quote(text)}, end='', flush=True); os.kill(os.getpid(), signal.${signal})`,
  leaveProcessBehind:
    "import subprocess; child = subprocess.Popen(['sleep', 'infinity']); print('parent is done')",
  allocateForever: lines('pieces = []', 'while True:', "    pieces.append(b'x' * 1048576)"),
  startMs: 500,
  memoryBytes: 64 * MiB,
  fillDisk: lines("with open('full', 'wb') as file:", '    while True:', "        file.write(b'x' * 65536)"),
  spawnForever: lines('import subprocess', 'while True:', "    subprocess.Popen(['sleep', 'infinity'])"),
  spy: lines(
    'import os, glob',
    "near = [f'/proc/{os.getpid() + n}/environ' for n in range(-300, 50)]",
    "for path in glob.glob('/proc/[0-9]*/environ') + near:",
    '    try:',
    '        print(open(path).read())',
    '    except OSError:',
    '        pass',
    "runs = [f'../../run-{n}{below}' for n in range(300) for below in ('', '/workspace')]",
    "for path in ['/tmp', '..', '../tmp', '../..', '../../..', *runs]:",
    '    try:',
    '        print(os.listdir(path))',
    '    except OSError:',
    '        pass',
  ),
  errors: {
    uncaught: {
      code: lines('def fail():', "    raise ValueError('no good')", 'fail()'),
      error: { name: 'ValueError', message: 'no good', line: 2 },
    },
    syntax: { code: lines('first = 1', 'second = = 2'), error: { name: 'SyntaxError', line: 2 } },
  },
  value: { code: "{'sum': 1 + 1}", value: { sum: 2 }, text: "{'sum': 2}" },
  input: { code: '[input_data]', received: ({ value }) => (value as unknown[])[0] },
  console: null,
  toolchainOnPath: true,
}
