/**
 * Makes programs of a sandbox trust its own certificate authority as well. One file contains its certificate with those
 * of the machine and the operator, because most programs read only one file.
 */
import { readFileSync } from 'node:fs'

import { certificatesFolder, certificateVariables } from './certificates.ts'
import type { Certificates } from './certificates.ts'

/** The paths on Debian and Alpine, Fedora and SUSE. */
const systemFiles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
]

const alone = `${certificatesFolder}/authority.pem`
const all = `${certificatesFolder}/all.pem`
/** Programs add the certificates of these files to their own; other variables replace what a program trusts. */
const adding = ['NODE_EXTRA_CA_CERTS', 'DENO_CERT']

export function trustAuthority(authority: string, operator: Certificates): Certificates {
  const added = Object.values(operator.files).join('')
  return {
    variables: Object.fromEntries(
      certificateVariables.map((name) => [name, adding.includes(name) ? alone : all]),
    ),
    files: { [alone]: `${authority}${added}`, [all]: `${authority}${added}${systemCertificates()}` },
  }
}

function systemCertificates(): string {
  for (const path of systemFiles) {
    try {
      return readFileSync(path, 'latin1')
    } catch {
      // The path of another distribution.
    }
  }
  // Loaded here, because it takes 20 ms, and only machines without certificates need it.
  return process.getBuiltinModule('node:tls').rootCertificates.join('\n')
}
