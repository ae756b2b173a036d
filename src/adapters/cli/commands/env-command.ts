/** `lazaret env`: environments of packages, for runs and sandboxes that name them. */
import type { Command } from 'commander'

import type { Lazaret } from '../../../engine/api.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import type {
  EnvironmentLock,
  EnvironmentProgress,
  EnvironmentSpec,
} from '../../../environments/environment.ts'
import { usualFolder } from '../../../environments/environments-folder.ts'
import type { CommandContext } from './command-context.ts'
import { addEngineOptions, resolveEngineOptions } from '../options/engine-flags.ts'
import type { EngineFlags } from '../options/engine-flags.ts'
import { readEnvironmentSpec } from '../options/environment-spec.ts'
import type { EnvironmentFlags } from '../options/environment-spec.ts'
import { append } from '../options/run-options.ts'
import { describeEnvironment, describeEnvironments } from '../output/print-environment.ts'
import { printJson } from '../output/print-json.ts'
import { toSingleLine } from '../output/terminal-text.ts'

const help = `
Packages come from the sources that this machine's pip and npm use; with --offline, only from local files. Installers run
in a sandbox that can reach nothing else. No install script of npm runs unless it is allowed.

Examples:
  lazaret env create data --python 'pandas==2.*' numpy --npm lodash zod
  lazaret run --env-name data -l python -e 'import pandas; pandas.__version__'
  lazaret env create site --requirements requirements.txt --package-json package.json
  lazaret env create own --offline --find-links ./wheels --python mine`

interface CreateFlags extends EnvironmentFlags, EngineFlags {
  readonly replace?: boolean
  readonly verbose?: boolean
}

type Perform = (name: string, flags: CreateFlags) => Promise<number>

export function addEnvCommand(program: Command, context: CommandContext): void {
  const env = program
    .command('env')
    .description('create and remove environments: packages that runs and sandboxes can import')
    .addHelpText('after', help)
  const on = (usage: string, description: string) =>
    addEngineOptions(env.command(usage)).description(description)
  const named = (command: Command, perform: Perform) =>
    command.action((name: string) =>
      context.perform(command, () => perform(name, command.opts<CreateFlags>())),
    )
  named(addCreateOptions(on('create <name>', 'install packages and give them a name')), async (name, flags) =>
    build(name, { flags, context, spec: await readEnvironmentSpec(flags) }),
  )
  const update = on('update <name>', 'install the packages of an environment again, in their newest versions')
  named(update.option('--verbose', 'print the output of the installers'), (name, flags) =>
    build(name, { flags, context }),
  )
  named(on('inspect <name>', 'print the packages of an environment, and its lock'), (name, flags) =>
    inspect(name, flags, context),
  )
  named(on('remove <name>', 'remove an environment that nobody uses'), async (name, flags) => {
    await withEngine(flags, context, ({ environments }) => environments.remove(name))
    if (flags.json === true) printJson({ name })
    return 0
  })
  const list = on('list', 'print all environments')
  list.action(() => context.perform(list, () => listAll(list.opts<EngineFlags>(), context)))
  const prune = on('prune', 'remove the files of replaced environments and of builds that were killed')
  prune.action(() => context.perform(prune, () => pruneAll(prune.opts<EngineFlags>(), context)))
}

function addCreateOptions(command: Command): Command {
  return command
    .option('--python <requirements...>', "pip packages, such as 'pandas==2.*'")
    .option('--npm <packages...>', "npm packages, such as zod or 'lodash@4'")
    .option('--requirements <file>', 'a requirements file; with hashes it is a lock')
    .option('--package-json <file>', 'a package.json, whose dependencies are installed')
    .option('--find-links <folder>', 'a folder of wheels and source archives (repeatable)', append)
    .option('--npm-tarball <file>', 'a tarball of an npm package to install (repeatable)', append)
    .option('--npm-cache <folder>', 'an npm cache to install from')
    .option('--offline', 'no network, only local files')
    .option('--allow-scripts <packages...>', 'npm packages whose install scripts may run, without a network')
    .option('--lock <file>', 'install exactly this: the JSON that `env inspect --json` prints')
    .option('--replace', 'replace an existing environment of this name')
    .option('--verbose', 'print the output of the installers')
}

/** `spec` is what to install. By default it is the request with which the environment was created. */
async function build(
  name: string,
  { flags, context, spec }: { flags: CreateFlags; context: CommandContext; spec?: EnvironmentSpec },
): Promise<number> {
  const made = await context.duringRun(() =>
    withEngine(flags, context, async ({ environments }) =>
      environments.create(name, spec ?? (await environments.get(name)).spec, {
        replace: spec === undefined || flags.replace === true,
        signal: context.signal,
        onProgress: (progress) => tell(progress, flags),
      }),
    ),
  )
  if (flags.json === true) printJson(made)
  else process.stdout.write(describeEnvironments([made]))
  return 0
}

async function inspect(name: string, flags: EngineFlags, context: CommandContext): Promise<number> {
  const one = await withEngine(flags, context, ({ environments }) => environments.get(name))
  if (flags.json === true) printJson(one)
  else process.stdout.write(describeEnvironment(one))
  return 0
}

async function listAll(flags: EngineFlags, context: CommandContext): Promise<number> {
  const all = await withEngine(
    flags,
    context,
    async ({ environments }, { environments: { folder } = {} }) => {
      const found = await environments.list()
      if (found.length === 0) context.warn(`there are no environments in ${folder ?? usualFolder()}.`)
      return found
    },
  )
  if (flags.json === true)
    printJson({ environments: all.map(({ lock: _lock, ...one }: { lock: EnvironmentLock }) => one) })
  else process.stdout.write(describeEnvironments(all))
  return 0
}

async function pruneAll(flags: EngineFlags, context: CommandContext): Promise<number> {
  const removed = await withEngine(flags, context, ({ environments }) => environments.prune())
  if (flags.json === true) printJson({ removed })
  else process.stdout.write(removed.map((hash) => `removed ${hash.slice(0, 12)}\n`).join(''))
  return 0
}

async function withEngine<T>(
  flags: EngineFlags,
  context: CommandContext,
  work: (lazaret: Lazaret, options: LazaretOptions) => Promise<T>,
): Promise<T> {
  const options = await resolveEngineOptions(flags, context)
  const { createLazaret } = await import('../../../engine/lazaret.ts')
  // The person at the terminal is the operator.
  const access = { networks: ['none', 'local-policy'], ...options.access } as const
  await using lazaret = createLazaret({ ...options, access })
  return await work(lazaret, options)
}

/** Prints progress, and only progress, on standard error. */
function tell({ step, line }: EnvironmentProgress, { verbose, json }: CreateFlags): void {
  if (json === true) return
  if (line === undefined) process.stderr.write(`lazaret: ${step}\n`)
  else if (verbose === true) process.stderr.write(`  ${toSingleLine(line)}\n`)
}
