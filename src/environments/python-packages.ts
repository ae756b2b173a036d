/** Installs Python packages with the guests' own pip, and reads from pip's report what was installed. */
import { z } from 'zod'

import type { EnvironmentPackage, EnvironmentSpec } from './environment.ts'
import type { Installer } from './installer.ts'
import { quote } from './quote.ts'
import { readSummary } from './summary.ts'

/** The sandbox's folder of installed packages. */
export const pythonOut = '/workspace/out/python'

const reportPath = '/workspace/report.json'
const lockPath = '/workspace/requirements.lock'
/** A thousand packages need a sixth of this. */
const summaryBytesMax = 1024 * 1024

/**
 * Runs inside the sandbox and prints only the needed parts of the report, which also has each package's description.
 */
const summarize = `
import json
for one in json.load(open("${reportPath}"))["install"]:
    about, archive = one["metadata"], one.get("download_info", {}).get("archive_info", {})
    # Before 23.1 pip wrote one hash, after its algorithm.
    sha256 = archive.get("hashes", {}).get("sha256") or archive.get("hash", "").partition("sha256=")[2]
    print(json.dumps([about["name"], about["version"], sha256]))
`

export const pythonSummary = z.tuple([
  z.string().regex(/^[\w.-]{1,200}$/),
  z.string().regex(/^[\w.+!-]{1,200}$/),
  z.string().regex(/^(?:[0-9a-f]{64})?$/),
])

export interface PythonInstalled {
  readonly packages: readonly EnvironmentPackage[]
  readonly lock: string
}

/** `linkFolders` are guest paths of folders with archives. Undefined if the request names no Python packages. */
export async function installPython(
  installer: Installer,
  { python = [], lock, offline = false }: EnvironmentSpec,
  linkFolders: readonly string[],
): Promise<PythonInstalled | undefined> {
  if (python.length === 0 && lock?.python === undefined) return undefined
  if (lock?.python !== undefined) await installer.sandbox.writeFile(lockPath, lock.python)
  const words = [
    'python3 -m pip install --no-input --disable-pip-version-check --no-cache-dir --no-compile',
    '--no-warn-script-location --progress-bar off --root-user-action ignore',
    `--target ${pythonOut} --report ${reportPath}`,
    ...(offline ? ['--no-index'] : []),
    ...linkFolders.map((folder) => `--find-links ${quote(folder)}`),
    ...(lock?.python === undefined ? ['--', ...python.map(quote)] : [`--require-hashes -r ${lockPath}`]),
  ]
  const offlineHint = offline ? offlineHintFor(linkFolders) : undefined
  await installer.run({ step: 'install-python', command: words.join(' '), offlineHint })
  const summary = await installer.ask(`python3 -c ${quote(summarize)}`, summaryBytesMax)
  await installer.run({
    step: 'compile',
    // The bytecode does not depend on file times. Files for other Python versions fail to compile, which is harmless.
    command: `python3 -m compileall -q -f --invalidation-mode unchecked-hash ${pythonOut} >/dev/null 2>&1 || true`,
  })
  return describe(summary)
}

function offlineHintFor({ length }: readonly string[]): string {
  return length === 0
    ? 'Offline, Python packages come only from folders of wheels and source archives: name one with `--find-links` (`findLinks`).'
    : 'Check name and version, and that the folders of `--find-links` (`findLinks`) have this package and its dependencies.'
}

/** A package's code may have written the report, so only names, versions and hashes are taken from it. */
function describe(summary: string): PythonInstalled {
  const rows = readSummary(summary, pythonSummary)
  const lines = rows.map(
    ([name, version, sha256]) => `${name}==${version}${sha256 === '' ? '' : ` --hash=sha256:${sha256}`}`,
  )
  const packages = rows.map(([name, version]) => ({ name, version }))
  return { packages: packages.toSorted(byName), lock: `${lines.toSorted().join('\n')}\n` }
}

export function byName(a: EnvironmentPackage, b: EnvironmentPackage): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
