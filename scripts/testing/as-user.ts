/**
 * Becomes another user, with only that user's group, and executes the command: `node as-user.ts <uid> <command>
 * [argument…]`. Node's own `uid` option of spawn() keeps the supplementary groups of root, and a test that holds those
 * is not unprivileged.
 */
const [id, command, ...args] = process.argv.slice(2)
if (id === undefined || command === undefined)
  throw new Error('Usage: as-user.ts <uid> <command> [argument…]')

process.setgroups?.([])
process.setgid?.(Number(id))
process.setuid?.(Number(id))
process.execve?.(command, [command, ...args], process.env)
// Reached only where there is no `execve`: the command has not run.
throw new Error('Becoming another user needs Linux and Node 24.')
