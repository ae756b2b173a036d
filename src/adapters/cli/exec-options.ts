/** The options of `exec`, as commander parses them. */
import type { Command } from 'commander'
import { resolveSandboxLimits } from '../../policy/sandbox-limits.ts'
import { addEngineOptions } from './engine-flags.ts'
import { addCellOptions, addTimeoutOption, append, type CellFlags } from './run-options.ts'

export interface ExecFlags extends CellFlags {
  readonly allowDegradedSecrets?: boolean
}

export function addExecOptions(command: Command): Command {
  addTimeoutOption(command, 'none')
  addCellOptions(command, {
    limits: resolveSandboxLimits().limits,
    collected: 'collected files',
    besides: 'a quarter as much in /tmp',
  })
    .option(
      '--env <KEY=VALUE>',
      'a credential: with any, the command runs in a secure space, with these and an empty HOME (repeatable)',
      append,
    )
    .option('--allow-degraded-secrets', 'accept --env where nothing here can keep it from other processes')
  return addEngineOptions(command)
}
