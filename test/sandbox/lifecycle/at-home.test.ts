/** Everyday work on one's own machine also works in a sandbox: HOME, user installs, /run, /var, /etc, databases. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { TestContext } from 'node:test'

import type { ExecResult } from '../../../src/index.ts'
import { guestHome } from '../../../src/jail/plan/place.ts'
import { useSandbox } from '../use-sandbox.ts'

const { lazaret, sandbox } = await useSandbox()

interface Work {
  /** Beside the repository, which is the folder `cloned`. */
  readonly files?: Readonly<Record<string, string>>
  readonly commands: readonly string[]
  /** The files that it then has in HOME. */
  readonly leaves: string
}

/** Skips the test if the machine has no such program. */
async function lacks(context: TestContext, program: string): Promise<boolean> {
  if ((await sandbox.exec(`command -v ${program}`)).success) return false
  context.skip(`${program} is not installed`)
  return true
}

const { isolation } = await sandbox.exec(':')

const outputOf = ({ stdout, stderr }: ExecResult): string => `${stdout}\n${stderr}`

test('HOME is outside the workspace, on the same disk, and persists between commands', async () => {
  await sandbox.exec('echo kept > ~/.settings; echo in > /workspace/file')
  const { stdout } = await sandbox.exec('echo ~; getent passwd guest | cut -d: -f6; cat ~/.settings; ls -A')
  assert.equal(stdout, '/home/guest\n/home/guest\nkept\nfile\n')
  const { stdout: devices } = await sandbox.exec('stat -c %d ~ /workspace | sort -u | wc -l')
  assert.equal(devices, '1\n')
  await sandbox.writeFile(`${guestHome}/.netrc`, 'machine example')
  assert.equal((await sandbox.exec('cat ~/.netrc')).stdout, 'machine example')
})

test('a command with credentials has its own, empty HOME', async () => {
  await sandbox.exec('echo planted > ~/.npmrc')
  const { stdout } = await sandbox.exec('echo ~; ls -A ~; echo own > ~/.npmrc', { env: { TOKEN: 't' } })
  assert.equal(stdout, '/home/guest\n')
  assert.equal((await sandbox.exec('cat ~/.npmrc')).stdout, 'planted\n')
})

const makeWheel = `import zipfile
with zipfile.ZipFile('distribution-1.0-py3-none-any.whl', 'w') as wheel:
    info = 'distribution-1.0.dist-info/'
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: distribution\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', '')
`
const installWheel = 'install --user --no-index --quiet --disable-pip-version-check'

/** What each does in a repository, which afterwards has no other new files than the intended ones. */
const atWork: Readonly<Record<string, Work>> = {
  npm: {
    files: { 'dependency/package.json': '{"name":"dependency","version":"1.0.0"}' },
    commands: [
      'npm init -y >/dev/null && npm install --no-audit --no-fund ../dependency >/dev/null',
      'git add package.json package-lock.json',
    ],
    leaves: '~/.npm',
  },
  pip: {
    files: {
      'make.py': makeWheel,
    },
    commands: ['(cd .. && python3 make.py)', `pip ${installWheel} ../distribution-1.0-py3-none-any.whl`],
    leaves: '~/.local/lib/python3*/site-packages/distribution-*',
  },
  cargo: {
    files: {
      'crate/Cargo.toml': '[package]\nname = "seven"\nversion = "1.0.0"\n',
      'crate/src/lib.rs': 'pub fn seven() -> u8 { 7 }\n',
      'cloned/Cargo.toml':
        '[package]\nname = "tried"\nversion = "1.0.0"\n[dependencies]\nseven = { path = "../crate" }\n',
      'cloned/src/main.rs': 'fn main() { println!("{}", seven::seven()) }\n',
    },
    commands: [
      'cargo generate-lockfile && git add Cargo.toml Cargo.lock src',
      'cargo build --quiet && test "$(target/debug/tried)" = 7',
      'cargo test --quiet >/dev/null',
    ],
    leaves: '~/.cargo',
  },
  'ssh-keygen': {
    commands: ['ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519'],
    leaves: '~/.ssh/id_ed25519.pub',
  },
  gpg: { commands: ['gpg --quiet --list-keys'], leaves: '~/.gnupg' },
}

for (const [program, { files = {}, commands, leaves }] of Object.entries(atWork))
  test(`${program} leaves a repository clean and keeps its files in HOME`, async (context) => {
    if ((await lacks(context, 'git')) || (await lacks(context, program))) return
    const folder = `/workspace/${program}`
    for (const [path, text] of Object.entries(files))
      await sandbox.writeFile(`${folder}/${path}`, text, { createParents: true })
    const repository = [
      `mkdir -p ${folder}/cloned && cd ${folder}/cloned && git init -q`,
      'printf "node_modules\\ntarget\\n" > .gitignore && git add .gitignore',
      ...commands,
      'git status --porcelain | { ! grep -v "^A "; }',
      `ls -d ${leaves} >/dev/null`,
    ]
    // In a separate shell, because a session's next command begins in the folder where this one ends.
    const worked = await sandbox.exec(`(set -e\n${repository.join('\n')}\n)`)
    assert.deepEqual([worked.exitCode, worked.stdout], [0, ''], worked.stderr)
  })

test('the pip of the machine installs for the user, even where it reserves that for the machine', async (context) => {
  if (await lacks(context, '/usr/bin/pip')) return
  await sandbox.exec('mkdir machine && cd machine')
  await sandbox.writeFile('machine/make.py', makeWheel)
  const command = `python3 make.py && /usr/bin/python3 -m pip ${installWheel} ./distribution-1.0-py3-none-any.whl; cd ..`
  const { stderr } = await sandbox.exec(command)
  assert.equal(stderr, '')
})

test('npm installs for the user, and the shell finds the installed programs', async (context) => {
  if (await lacks(context, 'npm')) return
  const made = await sandbox.exec(
    `mkdir -p tool && cd tool && printf '#!/bin/sh\\necho greetings\\n' > run.sh && echo '{"name":"greet","version":"1.0.0","bin":{"greet":"run.sh"}}' > package.json && npm pack --silent && npm install -g --no-audit --no-fund ./greet-1.0.0.tgz; cd ..`,
  )
  assert.equal(made.exitCode, 0, outputOf(made))
  assert.equal((await sandbox.exec('greet')).stdout, 'greetings\n')
  assert.match((await sandbox.exec('command -v greet')).stdout, /\/\.local\/bin\/greet$/m)
})

test('npm lists the global packages, even before the first', async (context) => {
  if (await lacks(context, 'npm')) return
  await using fresh = await lazaret.sandbox()
  const listed = await fresh.exec('npm ls -g')
  assert.equal(listed.exitCode, 0, outputOf(listed))
})

test('npx runs a program of the project', async (context) => {
  if (await lacks(context, 'npx')) return
  const command = `mkdir -p node_modules/.bin && printf '#!/bin/sh\\necho by npx\\n' > node_modules/.bin/named && chmod +x node_modules/.bin/named && npx named`
  const result = await sandbox.exec(command)
  assert.match(result.stdout, /by npx/, outputOf(result))
})

test('corepack installs its programs on PATH', async (context) => {
  if (await lacks(context, 'corepack')) return
  const result = await sandbox.exec('corepack enable && command -v pnpm')
  assert.equal(result.stdout, `${guestHome}/.local/bin/pnpm\n`, outputOf(result))
})

test('an addon finds the headers of the Node that runs it', async (context) => {
  if (await lacks(context, 'node')) return
  const { stdout: dir } = await sandbox.exec('echo $npm_config_nodedir')
  if (dir === '\n') return context.skip('the Node of guests comes without headers')
  const versions = await sandbox.exec(
    `node -p process.versions.modules; sed -n 's/^#define NODE_MODULE_VERSION \\([0-9]\\)/\\1/p' $npm_config_nodedir/include/node/node_version.h`,
  )
  const [running, header] = versions.stdout.trim().split('\n')
  assert.equal(header, running, outputOf(versions))
  if (await lacks(context, 'gcc')) return
  const source =
    '#include <node_api.h>\nNAPI_MODULE_INIT() { napi_value v; napi_create_uint32(env, 7, &v); return v; }'
  await sandbox.writeFile('addon.c', source)
  const built = await sandbox.exec(
    'gcc -shared -fPIC -I $npm_config_nodedir/include/node addon.c -o addon.node && node -p "require(\'./addon.node\')"',
  )
  assert.equal(built.stdout, '7\n', outputOf(built))
})

test('programs find writable /run and /var/tmp', async () => {
  const folders = '/run /run/lock $XDG_RUNTIME_DIR /var/run /var/tmp /var/lock'
  const { stdout, stderr } = await sandbox.exec(
    `for folder in ${folders}; do mkdir $folder/made && rmdir $folder/made && echo $folder; done; stat -c '%a %U' $XDG_RUNTIME_DIR`,
  )
  assert.equal(stdout, `/run\n/run/lock\n/run/user/1000\n/var/run\n/var/tmp\n/var/lock\n700 guest\n`, stderr)
})

test('the package database gives the same answers as on the machine', async (context) => {
  if (await lacks(context, 'dpkg-query')) return
  if (!existsSync('/var/lib/dpkg/status')) return context.skip('no package is installed')
  const result = await sandbox.exec(
    'dpkg -l dpkg | grep -c ^ii; dpkg -S /usr/bin/dpkg; dpkg -L dpkg | grep -x /usr/bin/dpkg',
  )
  assert.equal(result.stdout, '1\ndpkg: /usr/bin/dpkg\n/usr/bin/dpkg\n', outputOf(result))
})

test('installed programs find their settings in /etc', async (context) => {
  // Files that exist on the host have to exist here. existsSync() skips dangling links, which dangle here, too.
  const { stdout } = await sandbox.exec('cat /etc/os-release; readlink -e /etc/localtime; cat /etc/timezone')
  assert.match(stdout, /^ID=/m)
  assert.match(stdout, /zoneinfo\/(Etc\/)?UTC\nEtc\/UTC\n$/)
  const paths = ['/etc/matplotlibrc', '/etc/maven/m2.conf', '/etc/manpath.config', '/etc/debian_version']
  const there = paths.filter((path) => existsSync(path))
  if (there.length === 0) return context.skip('nothing of it is installed')
  const shown = await sandbox.exec(`cat ${there.join(' ')} >/dev/null`)
  assert.deepEqual([shown.exitCode, shown.stderr], [0, ''])
})

const languages: Readonly<Record<string, readonly [string, RegExp]>> = {
  java: [
    'java -XX:+PrintFlagsFinal -version 2>/dev/null | grep " MaxHeapSize"',
    // By default it takes a quarter of the memory: here of the sandbox's, not of the machine's.
    new RegExp(`= ${sandbox.limits.memoryBytes / 4} `),
  ],
  mvn: ['mvn -v', /Apache Maven/],
  man: ['man -w ls', /man1\/ls/],
  lscpu: ['lscpu', /^CPU\(s\): +\d+$/m],
  gcc: [
    `printf 'int main(){return 0;}' > sane.c && gcc -fsanitize=address sane.c -o sane && ./sane && echo sane`,
    /^sane$/m,
  ],
  ldconfig: ['ldconfig --version', /ldconfig/],
}
for (const [program, [command, expected]] of Object.entries(languages))
  test(`${program} works`, async (context) => {
    if (await lacks(context, program)) return
    // Without a cgroup each process has a limit on its data (RLIMIT_DATA), and a sanitizer reserves terabytes.
    if (program === 'gcc' && isolation.level !== 'strong')
      return context.skip('a sanitizer reserves more than a process may have as data here')
    const result = await sandbox.exec(command)
    assert.match(result.stdout, expected, outputOf(result))
  })
