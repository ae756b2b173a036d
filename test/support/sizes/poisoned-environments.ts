/**
 * Builds of a package that attacks another environment: its build code forges pip's report, and leaves a process that swaps
 * installed files and downloaded archives for those of the victim. It knows every path of a build.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { makeSourceArchive, makeWheel } from '../../environments/archives.ts'
import type { useEnvironments } from '../../environments/use-environments.ts'
import { createLazaret } from '../create-lazaret.ts'

/** The attacker's wheel has the victim's module. */
const evil = { name: 'evil', version: '6.6.6' } as const
const good = { name: 'good', version: '1.0' } as const

export type Ground = Awaited<ReturnType<typeof useEnvironments>>

const code = 'import good\ngood.VALUE'

/**
 * One attack, and then two builds of the victim's environment at the same time. Throws if what they make is not what the
 * victim's package makes it. Resolves to whether the hostile build gave an environment, which may only be the attacker's own.
 */
export async function poisonEnvironment(
  { lazaret, folder, store }: Ground,
  attack: number,
): Promise<'built' | 'refused'> {
  const { environments } = lazaret
  const links = join(folder, 'attacked')
  const goodWheel = makeWheel(links, good, { files: { 'good.py': 'VALUE = 42\n' } })
  const evilWheel = makeWheel(links, evil, { files: { 'good.py': "VALUE = 'OWNED'\n" } })
  const offline = { offline: true, findLinks: [links] }
  const version = `1.${attack}`
  // Half of them leave the archives alone, so that their own build succeeds.
  const backend = attackOf({ version, evilWheel, addsArchives: attack % 2 === 1 })
  await makeSourceArchive(links, { name: 'hostile', version }, backend)
  const own = await environments
    .create('own', { ...offline, python: [`hostile==${version}`] }, { replace: true, onProgress: wait })
    .catch((error: unknown) => error as { code: string })

  await using other = createLazaret({ environments: { folder: store }, onEvent: () => undefined })
  const asked = { ...offline, python: ['good'] }
  const both = await Promise.allSettled([
    environments.create('victim', asked),
    other.environments.create('victim', asked),
  ])
  const ends = both.map((end) =>
    end.status === 'fulfilled' ? 'built' : (end.reason as { code: string }).code,
  )
  assert.deepEqual(ends.toSorted(), ['ENVIRONMENT_EXISTS', 'built'])
  // It has read nothing yet.
  await using fresh = createLazaret({ environments: { folder: store }, onEvent: () => undefined })
  const { hash, python, lock } = await fresh.environments.get('victim')
  assert.deepEqual([python, lock], [[good], { python: `good==1.0 --hash=sha256:${hashOf(goodWheel)}\n` }])
  const installed = join(store, 'objects', hash, 'python')
  assert.deepEqual(readdirSync(installed).toSorted(), ['__pycache__', 'good-1.0.dist-info', 'good.py'])
  assert.equal(readFileSync(join(installed, 'good.py'), 'utf8'), 'VALUE = 42\n')
  assert.equal((await fresh.run({ language: 'python', environment: 'victim', code })).value, 42)
  if ('code' in own) assert.equal(own.code, 'ENVIRONMENT_FAILED')
  else assert.deepEqual(own.python, [{ name: 'hostile', version }])
  return 'code' in own ? 'refused' : 'built'
}

/** Throws unless the lock of the victim's environment, which `poisonEnvironment` has left, gives the same again. */
export async function requireSameFromLock({ lazaret, folder }: Ground): Promise<void> {
  const { environments } = lazaret
  const { hash, lock } = await environments.get('victim')
  const asked = { offline: true, findLinks: [join(folder, 'attacked')], lock }
  assert.equal((await environments.create('locked', asked)).hash, hash)
  assert.equal((await lazaret.run({ language: 'python', environment: 'locked', code })).value, 42)
}

/** Gives the attacker time where the host is about to read what a build has left. */
function wait({ step }: { readonly step: string }): void {
  if (step === 'take-out' || step === 'compile')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

interface Attack {
  readonly version: string
  readonly evilWheel: string
  readonly addsArchives: boolean
}

/** Runs whenever pip loads the build backend. */
function attackOf({ version, evilWheel, addsArchives }: Attack): string {
  const report = {
    install: [
      {
        metadata: evil,
        download_info: { archive_info: { hashes: { sha256: hashOf(evilWheel) } } },
      },
    ],
  }
  const daemon = `
import os, shutil, time
def attempt(work):
    try: work()
    except OSError: pass
def replace(path, text):
    with open(path + '.forged', 'w') as out: out.write(text)
    os.replace(path + '.forged', path)
out, mine = '/workspace/out/python', '/workspace/.prepared/python'
swapped = False
while True:
    attempt(lambda: replace('/workspace/report.json', ${JSON.stringify(JSON.stringify(report))}))
    if not swapped and all(os.path.exists(out + '/' + name) for name in ['hostile.py', 'hostile-${version}.dist-info']):
        os.rename(out, '/workspace/.prepared/former')
        os.rename(mine, out)
        swapped = True
    if ${addsArchives ? 'True' : 'False'} and os.path.isdir('/workspace/archives'):
        for wheel in ['good-1.0-py3-none-any.whl', ${JSON.stringify(basename(evilWheel))}]:
            attempt(lambda: shutil.copy('/opt/lazaret/local/links-0/' + wheel, '/workspace/archives/' + wheel))
    time.sleep(0.001)
`
  return `
import os, subprocess, sys
module = 'VALUE = 1\\n'
try: os.mkdir('/workspace/.prepared')
except FileExistsError: pass
else:
    # pip hides itself from build code.
    plain = {name: value for name, value in os.environ.items() if not name.startswith(('PYTHON', 'PIP'))}
    silent = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=plain)
    # The very files of the victim.
    subprocess.run([sys.executable, '-m', 'pip', 'install', '--no-index', '--find-links', '/opt/lazaret/local/links-0',
        '--no-cache-dir', '--no-compile', '--target', '/workspace/.prepared/python', 'good'], **silent)
    subprocess.run([sys.executable, '-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash',
        '-s', '/workspace/.prepared/python', '-p', '/workspace/out/python', '/workspace/.prepared/python'], **silent)
    subprocess.Popen([sys.executable, '-c', ${JSON.stringify(daemon)}], start_new_session=True, **silent)
`
}
