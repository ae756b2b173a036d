/** Finds the parts of the host's own system that cells can show. Read once, when a Lazaret is created. */
import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'

import type { HostView } from './shape.ts'

/** At the root of a system these are folders, or links into /usr where it is merged. */
const systemPaths = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/lib32', '/libx32']

/**
 * Of /etc only what programs need to start: where links of /usr/bin lead, the loader's cache, public certificates.
 * Never /etc as a whole: it holds keys, users and what the machine is for.
 */
const etcPaths = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/mime.types',
  // Without it every program that draws text takes whatever font comes first.
  '/etc/fonts',
]

export function lookAtHost(): HostView {
  const present = systemPaths.filter((path) => existsSync(path))
  const isLink = (path: string) => lstatSync(path).isSymbolicLink()
  return {
    folders: present.filter((path) => !isLink(path)),
    links: present.filter(isLink).map((path) => ({ path, target: readlinkSync(path) })),
    etc: [...etcPaths, ...listLanguageSettings()].filter((path) => existsSync(path)),
    refusedLowers: [],
    resolvConf: existsSync('/etc/resolv.conf')
      ? readFileSync('/etc/resolv.conf', 'utf8').slice(0, 16_384)
      : '',
  }
}

/** Debian's Pythons keep their sitecustomize in /etc/python3.N. */
function listLanguageSettings(): string[] {
  return readdirSync('/etc').flatMap((name) => {
    if (/^python3(\.\d+)?$/.test(name)) return [`/etc/${name}`]
    return /^java-\d+-openjdk$/.test(name) ? listJavaSettings(`/etc/${name}`) : []
  })
}

/**
 * Debian's Javas are links into this folder and do not start without. Only what most programs read: the rest is for
 * desktops and for servers, and has a place for a server's passwords.
 */
function listJavaSettings(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^(security|jvm-\w+\.cfg|logging\.properties)$/.test(name))
    .map((name) => `${folder}/${name}`)
}
