/** What a sandbox is asked to be, checked and completed with what the operator and the machine give. */
import { realpathSync, statSync } from 'node:fs'

import { z } from 'zod'

import { LazaretError } from '../core/errors.ts'
import { networkModes } from '../core/request.ts'
import type { SandboxWork } from '../core/work.ts'
import { requireEnforced } from '../policy/require-enforced.ts'
import { requireLevel } from '../policy/require-level.ts'
import { resolveSandboxLimits } from '../policy/sandbox-limits.ts'
import { readInput } from '../policy/hostile-input.ts'
import { namedFolders, readableFolders } from '../policy/readable-folders.ts'
import { absolutePath, describeIssues, limitsSchema, wording } from '../policy/schemas.ts'
import { limitMechanisms } from '../jail/limits/plan-limits.ts'
import type { Bind } from '../jail/shape.ts'
import { engineFolder } from '../runtimes/javascript/host.ts'
import { cellRuntimes } from '../runtimes/registry.ts'
import type { Toolchains } from '../runtimes/toolchains.ts'
import { checkName, checkVariables } from '../sandbox/checks.ts'
import type { SandboxParts } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import { checkSizes } from './check-sizes.ts'
import type { EngineGround } from './ground.ts'
import { clientSchema, filesSchema } from './parse-request.ts'

const factsOf = (path: string) => statSync(path, { throwIfNoEntry: false })

/** What guests leave there is its owner's: root's would be programs that run as root. */
const hostFolder = absolutePath
  .refine((path) => factsOf(path)?.isDirectory() === true, { error: 'is not a folder' })
  .refine((path) => factsOf(path)?.uid !== 0 && factsOf(path)?.gid !== 0, {
    error: "is root's; give it to the user whose files these are to be",
  })

const schema = z.strictObject({
  id: z.unknown().optional(),
  client: clientSchema.optional(),
  files: filesSchema.optional(),
  env: z.unknown().optional(),
  limits: limitsSchema.optional(),
  network: z.enum(networkModes).optional(),
  readable: namedFolders(absolutePath).optional(),
  workspace: absolutePath.optional(),
  protectedPorts: z.array(z.int().min(1).max(65_535)).max(1000).optional(),
  idleTimeoutMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional(),
  allowDegradedSecrets: z.boolean().optional(),
})

/** The host's part of a sandbox, which is looked at when the policy has allowed it. */
export interface HostFolders {
  readonly readable: SandboxOptions['readable'] | undefined
  readonly workspace: string | undefined
}

const foldersSchema = z.object({
  readable: readableFolders(absolutePath).optional(),
  workspace: hostFolder.optional(),
})

type OpenParts = Omit<SandboxParts, 'onGone' | 'governor'>

/** Throws JAIL_UNAVAILABLE, INVALID_REQUEST, INPUT_TOO_LARGE, LIMIT_UNENFORCEABLE, RUNTIME_UNAVAILABLE. */
export function parseSandbox(
  input: SandboxOptions,
  { options, wall, clock, toolchains }: EngineGround,
): OpenParts & { readonly folders: HostFolders } {
  requireLevel(wall)
  const parsed = readInput(() => schema.safeParse(input, { error: wording }))
  if (!parsed.success)
    throw new LazaretError('INVALID_REQUEST', { detail: `${describeIssues(parsed.error)}.` })
  const asked = parsed.data as SandboxOptions
  const { files = {}, network = 'none', idleTimeoutMs, allowDegradedSecrets = false } = asked
  const { protectedPorts = [8080, 8888] } = asked
  const { limits } = resolveSandboxLimits(asked.limits, options)
  requireEnforced(limits, limitMechanisms(wall.machine), options.allowUnenforced)
  checkSizes({ code: '', language: 'shell', files }, limits)
  const shell = toolchains.shell()
  if (shell === null || !shell.endsWith('bash'))
    throw new LazaretError('RUNTIME_UNAVAILABLE', { detail: 'There is no bash.', hint: 'Install bash.' })
  return {
    id: checkName(asked.id, 'id') ?? clock.id(),
    client: asked.client,
    wall,
    clock,
    limits,
    shell,
    shape: {
      binds: [...programs(toolchains), ...options.readable],
      network,
      diskBytes: limits.diskBytes,
      guests: 1,
      isSandbox: true,
      protectedPorts,
    },
    folders: { readable: asked.readable, workspace: asked.workspace },
    env: checkVariables(asked.env),
    files: Object.fromEntries(
      Object.entries(files).map(([path, content]) => [path, Buffer.from(content as string)]),
    ),
    idleTimeoutMs,
    allowDegradedSecrets,
  }
}

/** As the policy is told of them. */
export function namesOf({ readable, workspace }: HostFolders): Pick<SandboxWork, 'readable' | 'workspace'> {
  return { workspace, ...(readable === undefined ? {} : { readable: readable.map(({ host }) => host) }) }
}

/** Adds the host's folders, which may have changed since they were allowed only below themselves. Throws INVALID_REQUEST. */
export function showFolders(parts: OpenParts, asked: HostFolders): OpenParts {
  const parsed = foldersSchema.safeParse(asked, { error: wording })
  if (!parsed.success)
    throw new LazaretError('INVALID_REQUEST', { detail: `${describeIssues(parsed.error)}.` })
  const { readable = [], workspace } = parsed.data
  const { shape } = parts
  const binds = [...shape.binds, ...readable.map(({ host, guest }) => ({ host: realpathSync(host), guest }))]
  return {
    ...parts,
    shape: { ...shape, binds, ...(workspace !== undefined && { workspace: realpathSync(workspace) }) },
  }
}

/** The engines that runs have, where commands find them. Others are the machine's own, which every cell shows. */
function programs(toolchains: Toolchains): Bind[] {
  return cellRuntimes.flatMap(({ name, toolchain }) => {
    const host = toolchain.isShown ? toolchain.find(toolchains) : null
    return host === null ? [] : [{ host, guest: `${engineFolder}/${name}` }]
  })
}
