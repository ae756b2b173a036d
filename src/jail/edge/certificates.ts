/**
 * Certificates that the operator's own programs trust, for sandboxes with a network: without them no install would work
 * behind a proxy that inspects TLS. Guests get only the certificates of such a file, because a PEM file may hold a key,
 * too. These are the only variables of the host that have an effect inside.
 */
import { readFileSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/** The variables that name a certificate file to programs. */
export const certificateVariables = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'PIP_CERT',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
  'DENO_CERT',
  'npm_config_cafile',
] as const

/** Several times the size of all public authorities, and a fraction of the tmpfs that holds the file. */
const bytesMax = 1024 * 1024
export const certificatesFolder = '/opt/lazaret/certificates'

export interface Certificates {
  /** The paths at which guests find the files. */
  readonly variables: Readonly<Record<string, string>>
  /** Their text, by path. */
  readonly files: Readonly<Record<string, string>>
}

/** If a file is missing, too large or without a certificate, guests get neither the file nor its variable. */
export function findCertificates(environment: Readonly<Record<string, string | undefined>>): Certificates {
  const variables: Record<string, string> = {}
  const files: Record<string, string> = {}
  const shown = new Map<string, string>()
  for (const name of certificateVariables) {
    const host = environment[name]
    if (host === undefined || !isAbsolute(host)) continue
    const text = readCertificates(host)
    if (text === '') continue
    const path = shown.get(text) ?? `${certificatesFolder}/${shown.size}.pem`
    if (!shown.has(text) && sizeOf(files) + text.length > bytesMax) continue
    shown.set(text, path)
    files[path] = text
    variables[name] = path
  }
  return { variables, files }
}

const sizeOf = (files: Readonly<Record<string, string>>): number =>
  Object.values(files).reduce((sum, text) => sum + text.length, 0)

const certificate = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

function readCertificates(path: string): string {
  try {
    const facts = statSync(path)
    if (!facts.isFile() || facts.size > bytesMax) return ''
    return (readFileSync(path, 'latin1').match(certificate) ?? []).map((block) => `${block}\n`).join('')
  } catch {
    return ''
  }
}
