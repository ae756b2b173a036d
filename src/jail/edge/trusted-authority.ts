/**
 * What makes programs of a sandbox trust its own authority, besides those that they trust anyway: the certificates of the
 * machine and of the operator in one file, since most programs read no other once they are told of one.
 */
import { readFileSync } from 'node:fs'

import { certificatesFolder, certificateVariables } from './certificates.ts'
import type { Certificates } from './certificates.ts'

/** Where distributions keep them: Debian and Alpine, Fedora, SUSE. */
const systemFiles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
]

const alone = `${certificatesFolder}/authority.pem`
const all = `${certificatesFolder}/all.pem`
/** Node adds what this names to its own; other variables replace what a program trusts. */
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
      // Another distribution's.
    }
  }
  // Loaded here, because it takes 20 ms, and only machines without certificates need it.
  return process.getBuiltinModule('node:tls').rootCertificates.join('\n')
}
