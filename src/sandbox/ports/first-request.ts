/**
 * Checks the first bytes of a client on an exposed port. A web page can make its own name resolve to 127.0.0.1 (DNS
 * rebinding) and then read the server's answers; but its requests name the page's host. So an HTTP request must
 * name an address, `localhost`, or a host that the caller of `exposePort()` named. Other protocols pass.
 * Stops: rebound names. Does not stop: programs of this machine, and pages that send requests whose answers they cannot read.
 */
import { isIP } from 'node:net'

/** The same size as Node's own servers accept, and the most pieces, because each costs the host some work. */
const headBytesMax = 16 * 1024
const piecesMax = 64
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ +\S.* HTTP\/1\.\d\s*$/
/** The beginning of such a request. */
const lineBegin = /^[!#$%&'*+.^_`|~0-9A-Za-z-]*(?: [^\n]*)?$/

export class FirstRequest {
  readonly #hosts: readonly string[] | 'any'
  #held: Buffer = Buffer.alloc(0)
  #isDecided: boolean
  #pieces = 0

  constructor(hosts: readonly string[] | 'any') {
    this.#hosts = hosts
    this.#isDecided = hosts === 'any'
  }

  /** The bytes to pass on: none while more are needed for the decision. Undefined for a refused request. */
  take(bytes: Buffer): Buffer | undefined {
    if (this.#isDecided) return bytes
    this.#held = Buffer.concat([this.#held, bytes])
    const verdict = this.#judge(this.#held.toString('latin1').trimStart())
    if (verdict === 'refused') return undefined
    if (verdict === 'undecided') return Buffer.alloc(0)
    this.#isDecided = true
    return this.#held
  }

  /** The remaining bytes when the client has ended. Undefined for an incomplete request. */
  end(): Buffer | undefined {
    if (this.#isDecided) return Buffer.alloc(0)
    const isRequest = requestLine.test(this.#held.toString('latin1').trimStart().split('\n', 1)[0] ?? '')
    return isRequest ? undefined : this.#held
  }

  #judge(text: string): 'passed' | 'refused' | 'undecided' {
    // Blank space before the request is held, too.
    const isTooLong = this.#held.length > headBytesMax || ++this.#pieces > piecesMax
    const unfinished = isTooLong ? 'refused' : 'undecided'
    const lines = text.split('\n')
    const last = lines.pop() ?? ''
    const [line, ...headers] = lines
    if (line === undefined) return lineBegin.test(last) ? unfinished : 'passed'
    if (!requestLine.test(line)) return 'passed'
    const end = headers.findIndex((header) => header.trim() === '')
    if (end === -1) return unfinished
    return this.#isAllowed(headers.slice(0, end)) ? 'passed' : 'refused'
  }

  #isAllowed(headers: readonly string[]): boolean {
    const hosts = headers.flatMap((header) => /^host[ \t]*:(.*)$/i.exec(header.trimEnd())?.[1] ?? [])
    const name = hosts[0]?.trim().toLowerCase().replace(/:\d*$/, '') ?? ''
    if (hosts.length !== 1) return false
    const isOwn =
      name === 'localhost' || name.endsWith('.localhost') || isIP(name.replaceAll(/^\[|\]$/g, '')) !== 0
    return isOwn || this.#hosts.includes(name)
  }
}

const text = 'The Host header names another server. `exposePort(port, { hosts })` allows more names.\n'

export const refusal = [
  'HTTP/1.1 403 Forbidden',
  'Content-Type: text/plain',
  `Content-Length: ${text.length}`,
  'Connection: close',
  '',
  text,
].join('\r\n')
