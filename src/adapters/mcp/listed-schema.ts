/** Schemas of tools as JSON Schema, made once: each listing of the tools would take tens of milliseconds to make them again. */
import type { z } from 'zod'

type Standard = z.ZodType['~standard']
type Side = keyof Standard['jsonSchema']

const listed = new WeakMap<z.ZodType, unknown>()

/** The same schema, which converts itself once for each side. */
export function listedSchema<Schema extends z.ZodType>(schema: Schema): Pick<Schema, '~standard'> {
  const known = listed.get(schema) ?? { '~standard': withMemory(schema['~standard']) }
  listed.set(schema, known)
  return known as Pick<Schema, '~standard'>
}

function withMemory(standard: Standard): Standard {
  const made: { [Name in Side]?: Record<string, unknown> } = {}
  // The protocol has one target, so the options are always the same.
  const memory = (side: Side) => (options: Parameters<Standard['jsonSchema'][Side]>[0]) =>
    (made[side] ??= standard.jsonSchema[side](options))
  return { ...standard, jsonSchema: { input: memory('input'), output: memory('output') } }
}
