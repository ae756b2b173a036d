/**
 * Becomes another user, with no group but its own, and then the command: `node as-user.ts <uid> <command> [argument…]`.
 * Node's own `uid` option of spawn() keeps the supplementary groups of root, and a test that holds those is not
 * unprivileged.
 */
const [id, command, ...args] = process.argv.slice(2)
if (id === undefined || command === undefined)
  throw new Error('Usage: as-user.ts <uid> <command> [argument…]')

process.setgroups?.([])
process.setgid?.(Number(id))
process.setuid?.(Number(id))
process.execve?.(command, [command, ...args], process.env)
// Only reached where there is no such call: nothing has run as anyone.
throw new Error('Becoming another user needs Linux and Node 24.')
