/**
 * The parts of /etc that installed programs need: targets of links in /usr, and settings that describe a program and
 * not the machine. Each was read on Debian for users, names, keys and passwords, and what may hold them is left out:
 * `settings.xml` of Maven, `php.ini`, `Rprofile.site`, `wgetrc`, `gitconfig`, `npmrc`, `pip.conf`, `ssh`, `machine-id`.
 * Does not stop: reading a secret that root has put into a listed file that everybody may read.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'

/** Every system has these, or most programs look for them. */
const common = [
  'alternatives',
  'ld.so.cache',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/ca-trust/extracted',
  'pki/tls/certs/ca-bundle.crt',
  'pki/tls/cert.pem',
  'crypto-policies',
  'mime.types',
  // Without it every program that draws text uses whatever font comes first.
  'fonts',
]

/**
 * Each belongs to one program. The list is short because every mount costs each sandbox 1.4 KiB and some 30 µs: a file
 * that a program can do without is not on it.
 */
const ofPrograms = [
  'ImageMagick-6',
  'ImageMagick-7',
  'OpenCL',
  'R/Makeconf',
  'R/Renviron',
  'R/ldpaths',
  'R/repositories',
  'X11/rgb.txt',
  'dpkg/origins',
  'ghostscript',
  'groff',
  'manpath.config',
  'matplotlibrc',
  'maven/logging',
  'maven/m2.conf',
  'nginx/mime.types',
  'openmpi/openmpi-mca-params.conf',
  'perl',
  'texmf',
  'xml',
]

/** Debian's Pythons have their sitecustomize there. */
const pythonName = /^python3(\.\d+)?$/

/**
 * Debian's Javas have links to these, and do not start without them. `management` has a place for a server's passwords.
 */
const javaName = /^java-\d+-openjdk$/
const javaParts = /^(security|jfr|jvm-\w+\.cfg|logging\.properties)$/
const javaTexts = /^(?!logging\.).*\.properties(\.\w+)?$/

export function listEtc(root = '/etc'): string[] {
  const named = [...common, ...ofPrograms].map((name) => `${root}/${name}`)
  const pythons = readdirSync(root).filter((name) => pythonName.test(name))
  return [
    ...named.filter((path) => existsSync(path)),
    ...pythons.map((name) => `${root}/${name}`),
    ...listJava(root, javaParts),
  ]
}

function listJava(root: string, wanted: RegExp): string[] {
  const javas = readdirSync(root).filter((name) => javaName.test(name))
  return javas.flatMap((java) =>
    readdirSync(`${root}/${java}`)
      .filter((name) => wanted.test(name))
      .map((name) => `${root}/${java}/${name}`),
  )
}

/** Small texts, which every sandbox gets as its own file. */
export function readEtcTexts(): Readonly<Record<string, string>> {
  const paths = ['/etc/debian_version', '/etc/locale.alias', ...listJava('/etc', javaTexts)]
  const texts = paths
    .filter((path) => isOpenFile(path))
    .map((path) => [path, readFileSync(path, 'utf8').slice(0, textLengthMax)])
  const folders = listLoaderFolders()
  return Object.fromEntries([...texts, ...(folders === '' ? [] : [['/etc/ld.so.conf', folders]])])
}

const textLengthMax = 16 * 1024

/** A copy has no owner, so files that only root may read are not copied. */
function isOpenFile(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false })
  return facts !== undefined && facts.isFile() && (facts.mode & 0o004) !== 0
}

/** The loader's folders, which the linker reads: one file instead of those that list them on the host. */
function listLoaderFolders(): string {
  const folder = '/etc/ld.so.conf.d'
  if (!existsSync(folder)) return ''
  const files = readdirSync(folder).filter((name) => name.endsWith('.conf'))
  const lines = files.flatMap((name) => readFileSync(`${folder}/${name}`, 'utf8').split('\n'))
  return [...new Set(lines.filter((line) => line.startsWith('/usr/')))].map((line) => `${line}\n`).join('')
}
