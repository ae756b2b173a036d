/** Finds out whether something listens in a sandbox: reads the kernel's list of listeners and does not connect. */
import { Command } from '../commands/command.ts'
import type { Spaces } from '../spaces.ts'

/** State LISTEN in the fourth column; in the second, the port in hexadecimal after the address. See proc(5), `/proc/net/tcp`. */
const listening = (port: number) =>
  new RegExp(`^\\s*\\d+: [0-9A-F]+:${port.toString(16).toUpperCase().padStart(4, '0')} \\S+ 0A `, 'm')

export async function isListening(spaces: Spaces, port: number): Promise<boolean> {
  const { parts, user } = spaces
  const command = new Command({
    space: user,
    clock: parts.clock,
    limits: parts.limits,
    spec: {
      ...spaces.commonSpec(user),
      file: '/usr/bin/cat',
      argv: ['cat', '/proc/net/tcp', '/proc/net/tcp6'],
      env: {},
      folder: '/',
    },
  })
  command.begin({ timeoutMs: 5000 })
  const { stdout } = await command.ended
  return listening(port).test(stdout)
}
