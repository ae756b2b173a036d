/**
 * Becomes another user, with no group but its own, and then the command: `node as-user.ts <uid> <command> [argument…]`.
 * Node's own `uid` option of spawn() keeps the supplementary groups of root, and a test that holds those is not
 * unprivileged.
 */
const [id, command, ...args] = process.argv.slice(2)
if (id === undefined || command === undefined) throw new Error('Usage: as-user.ts <uid> <command> [argument…]')

const { execve } = process
if (execve === undefined || process.setgroups === undefined) throw new Error('This needs Linux and Node 24.')
process.setgroups([])
process.setgid?.(Number(id))
process.setuid?.(Number(id))
process.chdir(process.cwd())
execve(command, [command, ...args], process.env)
