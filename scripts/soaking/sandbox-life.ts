/** One sandbox of a soak: commands of all kinds, each with its one right answer, until its time is over. */
import { deepEqual, equal, ok } from 'node:assert/strict'

import { LazaretError } from '../../src/index.ts'
import type { ExecResult, Sandbox } from '../../src/index.ts'
import { pick } from './case.ts'

export interface Life {
  readonly sandbox: Sandbox
  readonly random: () => number
  /** Unique in the soak. */
  readonly token: string
}

type Deed = (life: Life) => Promise<void>

function answers(result: ExecResult, stdout: string): void {
  deepEqual([result.outcome.kind, result.exitCode, result.stdout], ['completed', 0, stdout])
}

const deeds: Readonly<Record<string, Deed>> = {
  echo: async ({ sandbox, token }) => answers(await sandbox.exec(`echo ${token}`), `${token}\n`),
  state: async ({ sandbox, token }) => {
    await sandbox.exec(`export KEPT=${token}; cd /tmp`)
    answers(await sandbox.exec('echo "$KEPT $PWD"; cd /workspace'), `${token} /tmp\n`)
  },
  secret: async ({ sandbox, token }) => {
    const result = await sandbox.exec('printf %s "$SECRET"', { env: { SECRET: token } })
    equal(result.isolation.space, 'secure')
    answers(result, token)
    answers(await sandbox.exec('printf %s "$SECRET"'), '')
  },
  'exit code': async ({ sandbox, random }) => {
    const code = 1 + pick(random, 100)
    equal((await sandbox.exec(`exit ${code}`)).exitCode, code)
  },
  timeout: async ({ sandbox }) => {
    const result = await sandbox.exec('(setsid sleep 100 &) ; sleep 100', { timeout: 150 })
    deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: 150 })
  },
  cancel: async ({ sandbox }) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 20)
    equal((await sandbox.exec('sleep 100', { signal: controller.signal })).outcome.kind, 'cancelled')
  },
  flood: async ({ sandbox }) => {
    const { truncated, outcome } = await sandbox.exec('head -c 12000000 /dev/zero')
    deepEqual([outcome.kind, truncated.includes('stdout')], ['completed', true])
  },
  files: async ({ sandbox, token }) => {
    await sandbox.writeFile(`/workspace/d/${token}`, token, { createParents: true })
    equal(await sandbox.readFile(`/workspace/d/${token}`), token)
    await sandbox.deleteFile(`/workspace/d/${token}`)
  },
  process: async ({ sandbox, token }) => {
    const process = await sandbox.startProcess(`echo ${token}; sleep 100`)
    await process.waitForLog(token)
    equal(await sandbox.killProcess(process.id), true)
  },
  terminal: async ({ sandbox, token }) => {
    const { stdout } = await sandbox.exec(`tty; echo ${token}`, { tty: { columns: 80, rows: 24 } })
    ok(stdout.startsWith('/dev/pts/') && stdout.includes(token))
  },
  session: async ({ sandbox, token }) => {
    const session = await sandbox.createSession({ env: { OWN: token } })
    answers(await session.exec('echo "$OWN"'), `${token}\n`)
    equal(await sandbox.deleteSession(session.id), true)
  },
  'killed shell': async ({ sandbox }) => {
    const isTerminated = (error: unknown) =>
      error instanceof LazaretError && error.code === 'SESSION_TERMINATED'
    const end = await sandbox.exec('kill -9 $$').catch((error: unknown) => error)
    ok(isTerminated(end), String(end))
  },
  memory: async ({ sandbox }) => {
    const { outcome } = await sandbox.exec('tail /dev/zero')
    ok(['out-of-memory', 'completed'].includes(outcome.kind), outcome.kind)
  },
}

const names = Object.keys(deeds)

/** Performs one action; returns its kind and what was wrong, if anything. */
export async function doSomething(life: Life): Promise<{ readonly kind: string; readonly wrong?: string }> {
  const kind = names[pick(life.random, names.length)] ?? 'echo'
  try {
    await deeds[kind]?.(life)
    return { kind }
  } catch (error) {
    return { kind, wrong: `${kind}: ${error instanceof Error ? error.message : String(error)}` }
  }
}
