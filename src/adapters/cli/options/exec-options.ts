/** The options of `exec`, as commander parses them. */
import type { Command } from 'commander'
import { resolveSandboxLimits } from '../../../policy/sandbox-limits.ts'
import { addEngineOptions } from './engine-flags.ts'
import { addLimitFlags } from './limit-flags.ts'
import { addCellOptions, append, type CellFlags } from './run-options.ts'

export interface ExecFlags extends CellFlags {
  readonly allowDegradedSecrets?: boolean
  readonly variable?: readonly string[]
}

export function addExecOptions(command: Command): Command {
  addLimitFlags(command, {
    // A command may take as long as it needs.
    usual: { ...resolveSandboxLimits().limits, wallMs: null },
    besides: { disk: 'a quarter as much in /tmp' },
    without: ['cpu'],
  })
  addCellOptions(command, 'collected files')
    .option(
      '--env <KEY=VALUE>',
      'a credential; the command then runs in a secure space with an empty HOME (repeatable)',
      append,
    )
    .option('--variable <NAME=VALUE>', 'a plain environment variable, not for secrets (repeatable)', append)
    .option('--allow-degraded-secrets', 'accept --env where this machine cannot hide it from other processes')
  return addEngineOptions(command)
}
