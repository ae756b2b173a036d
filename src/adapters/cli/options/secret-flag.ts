/**
 * `--secret NAME@host,host`. The value comes from the caller's variable of that name, because other users can read command
 * lines, and shells keep them in their history.
 */
import type { EdgeSecrets } from '../../../core/secrets.ts'
import { UsageError } from './usage-error.ts'

export function parseSecrets(
  options: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): EdgeSecrets {
  return Object.fromEntries(options.map((option) => parseSecret(option, variables)))
}

function parseSecret(
  option: string,
  variables: Readonly<Record<string, string | undefined>>,
): [string, EdgeSecrets[string]] {
  const [, name, hosts] = /^([A-Za-z_][A-Za-z0-9_]*)@(.+)$/.exec(option) ?? []
  if (name === undefined || hosts === undefined)
    // Not repeated: it may be a value that was meant to stay out of the terminal.
    throw new UsageError(
      '--secret: not of the form NAME@host,host.',
      'The value comes from the variable of that name; write --secret API_KEY@api.example.com.',
    )
  const value = variables[name]
  if (value === undefined || value === '')
    throw new UsageError(
      `--secret ${name}: this shell has no variable of that name.`,
      `Export it first, for example with: read -rs ${name} && export ${name}`,
    )
  return [name, { value, hosts: hosts.split(',') }]
}
