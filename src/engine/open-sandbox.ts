/** The request for a sandbox, checked and completed with values of the operator and the machine. */
import { statSync } from 'node:fs'

import { z } from 'zod'

import { LazaretError } from '../core/errors/errors.ts'
import { networkModeOf } from '../core/network.ts'
import { timerMsMax } from '../core/limits.ts'
import { once } from '../core/once.ts'
import type { SandboxWork } from '../core/work.ts'
import type { Notary } from '../observe/notary.ts'
import type { Governor } from '../policy/governor.ts'
import { requireEnforced } from '../policy/require-enforced.ts'
import { requireNamespaces } from '../policy/network/require-namespaces.ts'
import { requireLevel } from '../policy/require-level.ts'
import { resolveSandboxLimits } from '../policy/sandbox-limits.ts'
import { environmentNameSchema } from '../environments/read-spec.ts'
import { readInput } from '../policy/hostile-input.ts'
import { findFolders } from '../policy/access.ts'
import type { FoundFolder } from '../policy/access.ts'
import { namedFolders, readableFolders } from '../policy/readable-folders.ts'
import { networkSchema } from '../policy/network/network-schema.ts'
import { secretsSchema } from '../policy/network/secrets-schema.ts'
import { absolutePath, sandboxLimitsSchema, parsing, sayIssues } from '../policy/schemas.ts'
import { findCertificates } from '../jail/edge/certificates.ts'
import { openGuestSecrets } from '../jail/edge/guest-secrets.ts'
import { limitMechanisms } from '../jail/limits/plan-limits.ts'
import type { Bind } from '../jail/plan/shape.ts'
import { showHeaders } from '../runtimes/node/headers.ts'
import { engineFolder } from '../runtimes/javascript/host.ts'
import { showFolders } from '../runtimes/packages/guest-packages.ts'
import type { ShownFolders } from '../runtimes/packages/guest-packages.ts'
import { showPython } from '../runtimes/python/host.ts'
import { cellRuntimes } from '../runtimes/registry.ts'
import type { Toolchains } from '../runtimes/packages/toolchains.ts'
import { checkName, checkVariables } from '../sandbox/checks.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxParts } from '../sandbox/sandbox-parts.ts'
import type { Sandboxes } from '../sandbox/sandboxes.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import { checkSizes } from './options/check-sizes.ts'
import { bindsOf, planContexts, readFunctions } from './plan-contexts.ts'
import type { EngineGround } from './ground.ts'
import { clientSchema, filesSchema } from './options/parse-request.ts'

const factsOf = (path: string) => statSync(path, { throwIfNoEntry: false })

/** Files that guests leave there belong to its owner; if that is root, they could be programs that run as root. */
const hostFolder = absolutePath
  .refine((path) => factsOf(path)?.isDirectory() === true, { error: 'is not a folder' })
  .refine((path) => factsOf(path)?.uid !== 0 && factsOf(path)?.gid !== 0, {
    error: 'belongs to root; give it to the user who should own its files',
  })

export const sandboxFields = once(() =>
  z.strictObject({
    id: z.unknown().optional(),
    client: clientSchema.optional(),
    files: filesSchema.optional(),
    env: z.unknown().optional(),
    limits: sandboxLimitsSchema.optional(),
    network: networkSchema.optional(),
    secrets: secretsSchema.optional(),
    readable: namedFolders(absolutePath).optional(),
    environment: environmentNameSchema.optional(),
    workspace: absolutePath.optional(),
    protectedPorts: z.array(z.int().min(1).max(65_535)).max(1000).optional(),
    idleTimeoutMs: z.int().min(1).max(timerMsMax).optional(),
    allowDegradedSecrets: z.boolean().optional(),
  }),
)

/** The host folders of a sandbox. They are inspected only after the policy has allowed them. */
interface HostFolders {
  readonly readable: SandboxOptions['readable'] | undefined
  readonly workspace: string | undefined
}

const foldersSchema = once(() =>
  z.object({
    readable: readableFolders(absolutePath).optional(),
    workspace: hostFolder.optional(),
  }),
)

type OpenParts = Omit<SandboxParts, 'onGone' | 'governor' | 'notary'>
/** The parts that are known before the interpreters are asked for their versions. */
type AskedParts = Omit<OpenParts, 'contexts' | 'pythonFolder' | 'packages'>

/** Throws JAIL_UNAVAILABLE, INVALID_REQUEST, INPUT_TOO_LARGE, LIMIT_UNENFORCEABLE, RUNTIME_UNAVAILABLE. */
function parseSandbox(
  input: SandboxOptions,
  { options, wall, clock, account, toolchains }: EngineGround,
): AskedParts & { readonly folders: HostFolders; readonly environment: string | undefined } {
  requireLevel(wall)
  const parsed = readInput(() => sandboxFields().safeParse(input, parsing))
  if (!parsed.success) throw new LazaretError('INVALID_REQUEST', { detail: sayIssues(parsed.error) })
  const asked = parsed.data as SandboxOptions
  const { files = {}, network = 'none', idleTimeoutMs, allowDegradedSecrets = false } = asked
  requireNamespaces(network, wall)
  const { protectedPorts = [8080, 8888] } = asked
  const { limits, clamps } = resolveSandboxLimits(asked.limits, {
    ...options,
    machine: {
      memoryTotalBytes: options.queue.memoryTotalBytes,
      openFilesHard: wall.machine.limitFigures.openFilesHard,
    },
  })
  requireEnforced(limits, limitMechanisms(wall.machine), options.allowUnenforced)
  checkSizes({ code: '', language: 'shell', files }, limits)
  const shell = toolchains.shell()
  if (shell === null || !shell.endsWith('bash'))
    throw new LazaretError('RUNTIME_UNAVAILABLE', { detail: 'There is no bash.', hint: 'Install bash.' })
  const headers = showHeaders(toolchains.node())
  const secrets = openGuestSecrets(asked)
  const own = network !== 'none' ? findCertificates(process.env) : { variables: {}, files: {} }
  const certificates = secrets?.certificates ?? own
  return {
    id: checkName(asked.id, 'id') ?? clock.id(),
    client: asked.client,
    wall,
    clock,
    account,
    limits,
    certificates: certificates.variables,
    keyring: secrets?.keyring,
    clamps,
    shell,
    network,
    shape: {
      binds: [...programs(toolchains), ...headers],
      network: networkModeOf(network),
      diskBytes: limits.diskBytes,
      guests: 1,
      isSandbox: true,
      files: certificates.files,
      protectedPorts,
    },
    folders: { readable: asked.readable, workspace: asked.workspace },
    environment: asked.environment,
    env: checkVariables(asked.env),
    files: Object.fromEntries(
      Object.entries(files).map(([path, content]) => [path, Buffer.from(content as string)]),
    ),
    idleTimeoutMs,
    allowDegradedSecrets,
  }
}

export interface SandboxPlaces {
  readonly ground: EngineGround
  readonly governor: Governor
  readonly sandboxes: Sandboxes
  readonly notary: Notary | undefined
  /** Further folders of the host to show, without asking a policy. Default none. */
  readonly binds?: readonly Bind[]
  /** Called when a running sandbox has ended. */
  readonly onGone: (work: SandboxWork) => void
}

/** Throws what `parseSandbox()`, the policy and `Sandboxes.create()` throw. */
export async function openSandbox(
  asked: SandboxOptions,
  { ground, governor, notary, sandboxes, onGone, binds = [] }: SandboxPlaces,
): Promise<Sandbox> {
  const { folders, environment, ...parts } = parseSandbox(asked, ground)
  const { id, client, limits, network, env } = parts
  const asks = {
    network,
    variables: [...Object.keys(env), ...Object.keys(parts.keyring?.placeholders ?? {})],
    ...(environment !== undefined && { environment }),
    ...namesOf(folders),
  }
  const work = { kind: 'sandbox', id, client, limits, ...asks } as const
  return governor.perform(work, async (begun) => {
    const giveBack = begun.keep()
    try {
      await ground.toolchains.lookForPython()
      const shown = showFolders(
        { ...ground.options, readable: [...ground.options.readable, ...binds] },
        environment === undefined ? undefined : ground.environments.open(environment),
      )
      const all = showInterpreters(addFolders(parts, folders, governor), { ground, shown })
      return await sandboxes.create({ ...all, governor, notary }, () => {
        giveBack()
        onGone(work)
      })
    } catch (error) {
      giveBack()
      throw error
    }
  })
}

interface ShownGround {
  readonly ground: EngineGround
  readonly shown: ShownFolders
}

function showInterpreters(parts: AskedParts, { ground, shown }: ShownGround): OpenParts {
  const { toolchains, wall } = ground
  const { packages, readable } = shown
  const isOwnView = wall.machine.wall === 'namespaces'
  const engines = planContexts(toolchains, packages)
  const python = showPython(toolchains.pythonOf({ isOwnView }))
  const { shape } = parts
  const own = [...python.binds, ...(isOwnView ? bindsOf(engines) : [])]
  const binds = withoutRepeats([...own, ...readable, ...shape.binds])
  return {
    ...parts,
    packages,
    contexts: { programs: engines, readFunctions },
    pythonFolder: python.folder,
    shape: { ...shape, binds },
  }
}

/** The folders, as they are passed to the policy. */
function namesOf({ readable, workspace }: HostFolders): Pick<SandboxWork, 'readable' | 'workspace'> {
  return { workspace, ...(readable === undefined ? {} : { readable: readable.map(({ host }) => host) }) }
}

/**
 * Adds the host's folders. Guests may have replaced them by links since they were allowed, so the paths that are shown are
 * checked again, and the launcher follows no links in them. Throws ACCESS_DENIED, INVALID_REQUEST.
 */
function addFolders(parts: AskedParts, asked: HostFolders, governor: Governor): AskedParts {
  const found = findFolders(namesOf(asked))
  for (const folder of found) governor.requireFolder(folder)
  const pathOf = (option: FoundFolder['option'], named: string) =>
    found.find((one) => one.option === option && one.named === named)?.path ?? named
  const real = {
    readable: asked.readable?.map(({ host, guest }) => ({ host: pathOf('readable', host), guest })),
    workspace: asked.workspace === undefined ? undefined : pathOf('workspaces', asked.workspace),
  }
  const parsed = foldersSchema().safeParse(real, parsing)
  if (!parsed.success) throw new LazaretError('INVALID_REQUEST', { detail: sayIssues(parsed.error) })
  const { readable = [], workspace } = parsed.data
  const { shape } = parts
  const binds = [...shape.binds, ...readable.map((one): Bind => ({ ...one, isReal: true }))]
  return { ...parts, shape: { ...shape, binds, ...(workspace !== undefined && { workspace }) } }
}

function withoutRepeats(binds: readonly Bind[]): Bind[] {
  return [...new Map(binds.map((bind) => [bind.guest, bind])).values()]
}

/**
 * The engines that runs use, at the paths where commands find them. Other programs are the machine's own, which every
 * cell shows.
 */
function programs(toolchains: Toolchains): Bind[] {
  return cellRuntimes.flatMap(({ name, toolchain }) => {
    const host = toolchain.isShown ? toolchain.find(toolchains) : null
    return host === null ? [] : [{ host, guest: `${engineFolder}/${name}` }]
  })
}
