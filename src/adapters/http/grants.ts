/** What a request gets only if its token's entry allows it by name; the engine's `access` has to allow it as well. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { ApiToken, TokenGrant } from './api-tokens.ts'

const needs: readonly {
  readonly field: string
  readonly grant: TokenGrant
  readonly is: (value: unknown) => boolean
}[] = [
  { field: 'network', grant: 'network', is: (value) => value !== undefined && value !== 'none' },
  { field: 'protectedPorts', grant: 'network', is: (value) => value !== undefined },
  { field: 'port', grant: 'ports', is: () => true },
  { field: 'preload', grant: 'preload', is: (value) => value !== undefined },
  { field: 'readable', grant: 'readable', is: (value) => value !== undefined },
  { field: 'workspace', grant: 'workspace', is: (value) => value !== undefined },
  {
    field: 'allowDegradedSecrets',
    grant: 'degraded-secrets',
    is: (value) => value !== undefined && value !== false,
  },
]

/** Throws ACCESS_DENIED. */
export function requireGrants({ allow }: ApiToken, asked: Readonly<Record<string, unknown>>): void {
  for (const { field, grant, is } of needs)
    if (Object.hasOwn(asked, field) && is(asked[field]) && !allow.includes(grant))
      throw new LazaretError('ACCESS_DENIED', {
        detail: `${field}: this token may not use it.`,
        hint: `Leave it out. If you are the operator, make a token with \`--allow ${grant}\`.`,
      })
}
