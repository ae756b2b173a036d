/**
 * The variables that commands of the user space begin with, unless others are given. Besides the usual ones, they tell
 * programs what these cannot find out in a cell: where they may install, and how much memory there is.
 */
import { headersFolder } from '../../runtimes/node/headers.ts'
import { guestId } from '../../jail/plan/shape.ts'
import type { Spaces } from '../spaces.ts'

/** Without a network, retries cannot help, so an install fails at once instead of after minutes. */
const withoutRetries = { npm_config_fetch_retries: '0', PIP_RETRIES: '0' }

/** Otherwise the pip of Debian and Ubuntu refuses even `--user`, to protect system folders. No guest can write to them. */
const withUserInstalls = { PIP_BREAK_SYSTEM_PACKAGES: '1' }

/** LeakSanitizer traces its own process, which the filter refuses; then it fails programs without leaks. */
const withoutTracing = { ASAN_OPTIONS: 'detect_leaks=0', LSAN_OPTIONS: 'detect_leaks=0' }

const MiB = 1024 * 1024

export function userVariables(spaces: Spaces): Readonly<Record<string, string>> {
  const { home, parts, programVariables, isOwnView } = spaces
  const { limits, network, shape } = parts
  const own = `${home}/.local`
  const showsHeaders = shape.binds.some(({ guest }) => guest.startsWith(`${headersFolder}/include`))
  return {
    ...programVariables,
    PATH: `${own}/bin:${programVariables['PATH']}`,
    HOME: home,
    USER: 'guest',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TERM: 'dumb',
    npm_config_prefix: own,
    ...(showsHeaders && isOwnView ? { npm_config_nodedir: headersFolder } : {}),
    ...(isOwnView ? { XDG_RUNTIME_DIR: `/run/user/${guestId}` } : {}),
    JAVA_TOOL_OPTIONS: `-XX:MaxRAM=${Math.floor(limits.memoryBytes / MiB)}m`,
    ...withUserInstalls,
    ...withoutTracing,
    ...(network === 'none' ? withoutRetries : {}),
  }
}
