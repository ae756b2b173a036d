/**
 * A host process for tests that kill it: its sandboxes run every kind of work, and it prints a word when all are busy.
 *
 * Usage: host-of-sandboxes.ts <how many>
 */
import { createLazaret } from '../create-lazaret.ts'

const lazaret = createLazaret()
await Promise.all(
  Array.from({ length: Number(process.argv[2]) }, async () => {
    const sandbox = await lazaret.sandbox()
    await sandbox.exec('(setsid sleep 300 &) ; (trap "" TERM HUP INT; setsid sh -c "sleep 300" &)')
    const server = await sandbox.startProcess('echo up; sleep 300')
    await server.waitForLog('up')
    const terminal = await sandbox.startProcess('echo up; cat', { tty: { columns: 80, rows: 24 } })
    await terminal.waitForLog('up')
    void sandbox.exec('sleep 300')
    await sandbox.exposePort(3000, { socket: true })
    await new Promise<void>((resolve) => {
      const onOutput = () => resolve()
      void sandbox.exec('echo up; (setsid sleep 300 &); sleep 300', { env: { TOKEN: 'a' }, onOutput })
    })
  }),
)
process.stdout.write('busy\n')
