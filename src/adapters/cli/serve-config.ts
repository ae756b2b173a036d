/** The key `serve` of a configuration file: options of the server that are not options of an engine. */
import { z } from 'zod'
import { boundMost, type HttpBounds, usualBounds } from '../http/bounds.ts'
import { accessLogFormats, type AccessLogFormat } from './output/access-log.ts'
import { isOrigin, originsMax } from '../http/browsers/cors.ts'

export interface ServeConfig {
  /** Prints a line for each request on standard output. */
  readonly accessLog?: AccessLogFormat | undefined
  readonly bounds?: Partial<HttpBounds> | undefined
  /** Origins whose pages may call the server. */
  readonly cors?: readonly string[] | undefined
  /** Further names by which callers know the server. */
  readonly publicHosts?: readonly string[] | undefined
}

const bound = z.int().min(1).max(boundMost).optional()
const hostName = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[\w.-]+)$/i, 'must be the name of a host, without a port')

export const serveSchema: z.ZodType<ServeConfig> = z.strictObject({
  accessLog: z.enum(accessLogFormats).optional(),
  bounds: z
    .strictObject(Object.fromEntries(Object.keys(usualBounds).map((name) => [name, bound])))
    .optional(),
  cors: z
    .array(z.string().refine(isOrigin, { error: 'must be an origin such as https://app.example' }))
    .max(originsMax)
    .optional(),
  publicHosts: z.array(hostName).max(originsMax).optional(),
}) as z.ZodType<ServeConfig>
