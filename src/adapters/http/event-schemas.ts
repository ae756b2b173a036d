/** The data of each event of a reply, and which events a route sends. */
import { z } from 'zod'

const stream = z.enum(['stdout', 'stderr'])

export const eventSchemas = {
  StartedEvent: z.strictObject({ id: z.string() }),
  /** `base64` is present only if the output is not valid UTF-8. */
  OutputEvent: z.strictObject({
    stream,
    text: z.string(),
    base64: z.string().optional(),
    atMs: z.number().optional(),
  }),
  LogEvent: z.strictObject({
    level: z.enum(['debug', 'log', 'info', 'warn', 'error']),
    text: z.string(),
    atMs: z.number(),
  }),
  DisplayEvent: z.strictObject({
    bundle: z.record(z.string(), z.string()),
    displayId: z.string().optional(),
    isUpdate: z.literal(true).optional(),
  }),
  ClearEvent: z.strictObject({ waits: z.boolean() }),
  CallEvent: z.strictObject({ call: z.string(), name: z.string(), args: z.unknown() }),
} as const

/** The schemas of the events of a command, by their names. `result` is the route's own. */
export const commandEvents = { started: 'StartedEvent', output: 'OutputEvent', error: 'Problem' } as const

/** The events of code that also logs, displays and calls host functions. */
export const codeEvents = {
  ...commandEvents,
  log: 'LogEvent',
  display: 'DisplayEvent',
  clear: 'ClearEvent',
  call: 'CallEvent',
} as const
