/**
 * Modules whose `require` counts as an attempt to escape, not as a mistake: Node's own modules, and packages for access to
 * networks, files, processes or databases. None of them exists in an isolate. The list only selects the error that the
 * program gets.
 */
import { stringIndexOf, stringSlice, stringStartsWith, uncurryThis } from '../../../core/primordials.ts'

const split = uncurryThis(String.prototype.split as (separator: string) => string[])
const NameSet = Set<string>
const nameHas = uncurryThis(NameSet.prototype.has)
const nameAdd = uncurryThis(NameSet.prototype.add)
const matches = uncurryThis(RegExp.prototype.exec)

/** All modules of Node, including those that only compute: a program that requires one expects Node. */
const ofNode =
  'assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events ' +
  'fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl sea sqlite ' +
  'stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib'

/** Packages that send requests. */
const clients =
  'axios bent cross-fetch follow-redirects got http-proxy https-proxy-agent isomorphic-fetch ky needle node-fetch ' +
  'request request-promise superagent undici unfetch whatwg-fetch wretch'

/** Packages that open sockets, run servers, or control programs that do. */
const sockets =
  'aws-sdk express fastify firebase firebase-admin ftp googleapis grpc koa mqtt nodemailer openai playwright puppeteer ' +
  'puppeteer-core selenium-webdriver socket.io socket.io-client ssh2 twilio websocket ws'

/** Packages that access databases. */
const databases =
  'better-sqlite3 cassandra-driver ioredis knex mariadb mongodb mongoose mssql mysql mysql2 neo4j-driver oracledb pg ' +
  'prisma redis sequelize sqlite3 tedious typeorm'

/** Packages that read or change files. */
const files =
  'chokidar del dotenv fast-glob fs-extra glob globby graceful-fs jsonfile memfs mkdirp move-file rimraf tar tmp unzipper'

/** Packages that start processes or threads, load native code, or evaluate code. */
const processes =
  'bindings cross-spawn execa ffi-napi isolated-vm koffi node-pty shelljs sudo-prompt tinypool vm2 which worker-farm ' +
  'workerpool zx'

/** Whole scopes of such packages. */
const scopes = '@aws-sdk @azure @google-cloud @grpc @prisma @sendgrid @slack'

/** Paths and URLs: `./file`, `/etc/passwd`, `C:\\file`, `file:`, `https:`, `data:`, and `node:` modules. */
const placePattern = /^(?:\.{0,2}[\\/]|\.{1,2}$|[a-z][a-z0-9+.-]*:)/i

let names: Set<string> | undefined

export function isForbidden(name: string): boolean {
  if (matches(placePattern, name) !== null) return true
  names ??= readNames()
  const first = beforeSlash(name, 0)
  if (!stringStartsWith(first, '@')) return nameHas(names, first)
  return nameHas(names, first) || nameHas(names, beforeSlash(name, first.length + 1))
}

/** The name up to its first slash from `from` on. */
function beforeSlash(name: string, from: number): string {
  const end = stringIndexOf(name, '/', from)
  return end === -1 ? name : stringSlice(name, 0, end)
}

function readNames(): Set<string> {
  const found = new NameSet()
  const lists = `${ofNode} ${clients} ${sockets} ${databases} ${files} ${processes} ${scopes}`
  const all = split(lists, ' ')
  for (let index = 0; index < all.length; index++) nameAdd(found, all[index])
  return found
}
