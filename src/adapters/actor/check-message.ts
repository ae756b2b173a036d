/**
 * Turns a message into code to execute, or into the reason for a refusal. Checks run in a fixed order; the first that
 * fails is the reason.
 */
export type ActorLanguage = (typeof languages)[number]

/** A checked program. */
export interface Execution {
  readonly code: string
  readonly language: ActorLanguage
  readonly timeoutMs: number
}

const languages = ['javascript', 'typescript'] as const

export interface TimeoutRules {
  readonly defaultTimeoutMs: number
  readonly timeoutMsMax: number
}

/** Reads a message, which may be anything. Its getters may throw. */
export function checkMessage(message: unknown, rules: TimeoutRules): Execution | string {
  const { type, payload } = fieldsOf(message)
  if (type !== 'execute') return `Expected message type 'execute', got '${describe(type)}'`
  const { code, language, timeout } = fieldsOf(payload)
  if (code === undefined || code === null || code === '') return 'No code provided'
  const asked = language === undefined ? 'javascript' : language
  if (asked !== null && !isLanguage(asked)) return unsupported(asked)
  if (typeof code !== 'string') return `The code must be a string, got ${describe(code)}`
  if (asked === null) return unsupported(asked)
  const timeoutMs = timeout === undefined ? rules.defaultTimeoutMs : timeout
  const wrong = whyNoTimeout(timeoutMs, rules.timeoutMsMax)
  if (wrong !== undefined) return wrong
  return { code, language: asked, timeoutMs: timeoutMs as number }
}

/** Why it is not a valid timeout; `undefined` if it is. */
export function whyNoTimeout(timeout: unknown, timeoutMsMax: number): string | undefined {
  if (typeof timeout !== 'number' || !Number.isFinite(timeout) || timeout <= 0)
    return `The timeout must be a positive number of milliseconds, got ${typeof timeout === 'string' ? `the string '${describe(timeout)}'` : describe(timeout)}`
  if (timeout > timeoutMsMax) return `The timeout may be at most ${timeoutMsMax}ms, got ${timeout}ms`
  return undefined
}

const unsupported = (language: unknown): string =>
  `Unsupported language: ${describe(language)}. Supported: ${languages.join(', ')}`

function isLanguage(value: unknown): value is ActorLanguage {
  return languages.some((language) => language === value)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

const describedMax = 100

/** Formats a value like a template string would, but on one short line and without running the value's code. */
function describe(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return isList(value) ? 'a list' : 'an object'
  const text = String(value).replaceAll(/\p{Cc}/gu, ' ')
  return text.length > describedMax ? `${text.slice(0, describedMax)}…` : text
}

/** `Array.isArray` throws for a revoked proxy. */
function isList(value: object): boolean {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}
