/** Finds the parts of the host's own system that cells can show. Read once, when a Lazaret is created. */
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'

import { listEtc, readEtcTexts } from './host-etc.ts'
import type { HostView } from '../plan/shape.ts'

/** At the root of a system these are folders, or links into /usr where it is merged. */
const systemPaths = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/lib32', '/libx32']

export function lookAtHost(): HostView {
  const present = systemPaths.filter((path) => existsSync(path))
  const isLink = (path: string) => lstatSync(path).isSymbolicLink()
  return {
    folders: present.filter((path) => !isLink(path)),
    links: present.filter(isLink).map((path) => ({ path, target: readlinkSync(path) })),
    etc: listEtc(),
    database: packageDatabase.filter((path) => existsSync(path)),
    texts: { ...readTexts(processorFiles), ...readTexts(hugePageFiles), ...readEtcTexts() },
    corepack: ['/usr/local/bin/corepack', '/usr/bin/corepack'].find((path) => existsSync(path)),
    refusedLowers: [],
    resolvConf: existsSync('/etc/resolv.conf')
      ? readFileSync('/etc/resolv.conf', 'utf8').slice(0, 16_384)
      : '',
  }
}

/** What `dpkg -l`, `-L`, `-S` and `update-alternatives` read: which packages /usr is made of. No settings are in it. */
const packageDatabase = ['/var/lib/dpkg']

/** The numbering of processors, in the files that `lscpu` and older libraries read before /proc/cpuinfo. */
const processorFiles = ['possible', 'present', 'online'].map((name) => `/sys/devices/system/cpu/${name}`)

/** Without them glibc's malloc asks for no huge pages. */
const hugePageFiles = ['enabled', 'hpage_pmd_size'].map(
  (name) => `/sys/kernel/mm/transparent_hugepage/${name}`,
)

function readTexts(paths: readonly string[]): Readonly<Record<string, string>> {
  const there = paths.filter((path) => existsSync(path))
  return Object.fromEntries(there.map((path) => [path, readFileSync(path, 'utf8')]))
}
