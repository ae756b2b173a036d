/** A Jupyter server in a sandbox, used as JupyterLab uses it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ContentsManager } from '@jupyterlab/services'
import { createLazaret } from '../../support/create-lazaret.ts'
import type { Work } from '../../../src/index.ts'
import { runCell, settingsOf, startKernel, useJupyter, visit } from './use-jupyter.ts'

const { guests, skip, withJupyter, isRestricted } = await useJupyter()

test(
  'code of two kernels runs, shows, fails and is interrupted, and each keeps its state',
  { skip },
  async () => {
    await withJupyter(async ({ jupyter }) => {
      await using one = await startKernel(jupyter)
      await using other = await startKernel(jupyter)
      assert.deepEqual(await runCell(one.kernel, 'x = 6 * 7\nprint("hello")\nx'), {
        stdout: 'hello\n',
        values: [{ 'text/plain': '42' }],
        error: '',
      })
      const shown = await runCell(one.kernel, 'from IPython.display import HTML\ndisplay(HTML("<b>x</b>"))')
      assert.equal((shown.values[0] as Record<string, string>)['text/html'], '<b>x</b>')
      assert.equal((await runCell(other.kernel, 'x')).error, 'NameError')
      const interrupted = await runCell(
        one.kernel,
        'print("ready", flush=True)\nwhile True: pass',
        () => void one.kernel.interrupt(),
      )
      assert.equal(interrupted.error, 'KeyboardInterrupt')
      assert.deepEqual((await runCell(one.kernel, 'x')).values, [{ 'text/plain': '42' }])
    })
  },
)

test('large bodies pass completely in both directions', { skip }, async () => {
  await withJupyter(async ({ jupyter }) => {
    await using one = await startKernel(jupyter)
    // Jupyter itself drops output above a megabyte per second.
    const { stdout } = await runCell(one.kernel, 'print("x" * 800_000)')
    assert.equal(stdout.length, 800_001)
    const contents = new ContentsManager({ serverSettings: settingsOf(jupyter) })
    const content = 'y'.repeat(3_000_000)
    await contents.save('large.txt', { type: 'file', format: 'text', content })
    assert.equal((await contents.get('large.txt')).content, content)
    contents.dispose()
  })
})

test('notebooks are in the workspace, and kernels see its files', { skip }, async () => {
  await withJupyter(async ({ sandbox, jupyter }) => {
    await sandbox.writeFile('/workspace/rows.csv', '1\n2\n')
    await using one = await startKernel(jupyter)
    const { values } = await runCell(one.kernel, 'sum(map(int, open("rows.csv")))')
    assert.deepEqual(values, [{ 'text/plain': '3' }])
    const contents = new ContentsManager({ serverSettings: settingsOf(jupyter) })
    const made = await contents.newUntitled({ type: 'notebook' })
    contents.dispose()
    assert.match(await sandbox.readFile(`/workspace/${made.path}`), /"cells"/)
  })
})

test('commands cannot see it, signal it, find its socket or use its port', { skip }, async () => {
  await withJupyter(async ({ sandbox, jupyter }) => {
    const { port } = new URL(jupyter.url)
    const look = await sandbox.exec(
      'ps aux; find / -name "*.sock" 2>/dev/null; cat /proc/net/unix; kill -9 -1; true',
    )
    assert.doesNotMatch(look.stdout, /jupyter|server\.sock/)
    const reach = `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${port}), 2)'`
    assert.match((await sandbox.exec(reach)).stderr, /Connection refused/)
    const taken = await sandbox.exec(
      `python3 -c 'import socket; socket.create_server(("127.0.0.1", ${port})); print("mine")'`,
    )
    assert.equal(taken.stdout, 'mine\n')
    const { status } = await visit(`${jupyter.url}api/status?token=${jupyter.token}`)
    assert.equal(status, 200)
  })
})

test('if kernels kill the server, the sandbox continues and can start another', { skip }, async () => {
  await withJupyter(async ({ sandbox, jupyter }) => {
    await assert.rejects(sandbox.startJupyter(), { code: 'INVALID_REQUEST' })
    const { kernel, forget } = await startKernel(jupyter)
    const gone = runCell(kernel, 'import os, signal; os.kill(os.getppid(), signal.SIGKILL)').catch(
      () => undefined,
    )
    await untilRefused(jupyter.url)
    forget()
    await gone
    await jupyter.close()
    assert.equal((await sandbox.exec('echo on')).stdout, 'on\n')
    await using next = await sandbox.startJupyter()
    assert.notEqual(next.token, jupyter.token)
    assert.equal((await visit(`${next.url}api/status?token=${next.token}`)).status, 200)
    assert.equal((await visit(`${next.url}api/status?token=${jupyter.token}`)).status, 403)
  })
})

async function untilRefused(url: string): Promise<void> {
  for (;;) if ((await visit(url).catch(() => null)) === null) return
}

test('the server imports no files of the workspace', { skip }, async () => {
  await using sandbox = await guests.lazaret.sandbox()
  for (const name of ['json', 'jupyter_server', 'sitecustomize'])
    await sandbox.writeFile(`/workspace/${name}.py`, 'raise SystemExit("taken over")')
  await using jupyter = await sandbox.startJupyter()
  assert.equal((await visit(`${jupyter.url}api/status?token=${jupyter.token}`)).status, 200)
})

test('destroying a sandbox does not wait for a server that is starting', { skip }, async () => {
  const sandbox = await guests.lazaret.sandbox()
  const starting = assert.rejects(sandbox.startJupyter(), { code: 'SANDBOX_GONE' })
  await sandbox.destroy()
  await starting
})

test('the policy is asked, the audit log records it, and options are checked', { skip }, async () => {
  const asked: Work[] = []
  await using lazaret = createLazaret({ onEvent: () => undefined, admit: (work) => void asked.push(work) })
  await using sandbox = await lazaret.sandbox()
  for (const wrong of [{ cwd: 'relative' }, { limits: { memoryBytes: 1 } }, { port: 8888 }])
    await assert.rejects(sandbox.startJupyter(wrong), { code: 'INVALID_REQUEST' })
  asked.length = 0
  await sandbox.startJupyter().catch(() => undefined)
  const [work] = asked
  assert.deepEqual(work?.kind === 'context' && [work.language, work.service], ['python', 'jupyter'])
})

test('the error says that Python lacks it', async () => {
  await using sandbox = await guests.lazaret.sandbox()
  if (isRestricted) {
    await assert.rejects(sandbox.startJupyter(), { code: 'JAIL_UNAVAILABLE' })
    return
  }
  // It is found before the real module, if there is one.
  await sandbox.setEnvVars({ PYTHONPATH: '/workspace/lacks' })
  const lacks = 'raise SystemExit("No module named jupyter_server")'
  await sandbox.writeFile('/workspace/lacks/jupyter_server.py', lacks, { createParents: true })
  await assert.rejects(sandbox.startJupyter(), {
    code: 'RUNTIME_UNAVAILABLE',
    message: /No module named jupyter_server/,
  })
})
