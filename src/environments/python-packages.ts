/** Installs packages for Python with the guests' own pip, and reads from its report what was installed. */
import { z } from 'zod'

import type { EnvironmentPackage, EnvironmentSpec } from './environment.ts'
import type { Installer } from './installer.ts'
import { quote } from './quote.ts'
import { readSummary } from './summary.ts'

/** Where they lie in the sandbox. */
export const pythonOut = '/workspace/out/python'

const reportPath = '/workspace/report.json'
const lockPath = '/workspace/requirements.lock'
/** Of a thousand packages it is a sixth of this. */
const summaryBytesMax = 1024 * 1024

/** The report has the description of each package too; what is wanted of it is picked inside. */
const summarize = `
import json
for one in json.load(open("${reportPath}"))["install"]:
    about, archive = one["metadata"], one.get("download_info", {}).get("archive_info", {})
    # Before 23.1 pip wrote one hash, behind its kind.
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

/** `linkFolders` are folders with archives, as guests find them. Undefined when nothing was asked for. */
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
  await installer.run({ step: 'install-python', command: words.join(' ') })
  const summary = await installer.ask(`python3 -c ${quote(summarize)}`, summaryBytesMax)
  await installer.run({
    step: 'compile',
    // Bytecode that does not depend on when it was made. Files that are for another Python do not compile.
    command: `python3 -m compileall -q -f --invalidation-mode unchecked-hash ${pythonOut} >/dev/null 2>&1 || true`,
  })
  return describe(summary)
}

/** The code of packages may have written the report: nothing but names, versions and hashes comes through. */
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
