/**
 * The certificate authority of one sandbox, and the certificates that it issues for hosts of secrets. It is made with the
 * sandbox, trusted only inside it, and forgotten with it. Format: RFC 5280; keys are on the curve P-256.
 */
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { randomText } from '../../../core/clock.ts'
import { der, derBits, derIdentifier, derTime, derTrue } from './der.ts'

/** In PEM. */
export interface KeyAndCertificate {
  readonly key: string
  readonly certificate: string
}

export interface Authority extends KeyAndCertificate {
  /** Unique, because clients find an issuer by its name. */
  readonly name: string
}

interface CertificateFields {
  readonly issuer: string
  readonly subject: string
  readonly publicKey: KeyObject
  readonly signer: KeyObject
  readonly extensions: readonly Buffer[]
}

/** Longer than any sandbox lives, because the clocks of guests may be wrong. Clients require some bounds. */
const validFrom = '2020-01-01T00:00:00.000Z'
const validUntil = '2049-12-31T00:00:00.000Z'
const serialBytes = 16
const nameBytes = 8

export function createAuthority(): Authority {
  const { privateKey, publicKey } = createKeys()
  const name = `Lazaret sandbox ${Buffer.from(randomText(nameBytes), 'latin1').toString('hex')}`
  const keyUsage = derBits(Buffer.from([0x06]), 1) // keyCertSign, cRLSign
  const certificate = issue({
    issuer: name,
    subject: name,
    publicKey,
    signer: privateKey,
    extensions: [
      extension('2.5.29.19', der('sequence', derTrue, der('integer', Buffer.from([0]))), true),
      extension('2.5.29.15', keyUsage, true),
      // The subject key identifier, which strict clients require; any bytes will do.
      extension('2.5.29.14', der('octets', Buffer.from(name))),
    ],
  })
  return { name, key: writeKey(privateKey), certificate }
}

/** A certificate for one host. */
export function issueFor(host: string, authority: Authority): KeyAndCertificate {
  const { privateKey, publicKey } = createKeys()
  const subject = der(0x82, Buffer.from(host)) // dNSName
  const certificate = issue({
    issuer: authority.name,
    subject: 'Lazaret',
    publicKey,
    signer: createPrivateKey(authority.key),
    extensions: [
      extension('2.5.29.17', der('sequence', subject)),
      extension('2.5.29.15', derBits(Buffer.from([0x80]), 7), true), // digitalSignature
      extension('2.5.29.37', der('sequence', derIdentifier('1.3.6.1.5.5.7.3.1'))), // serverAuth
      extension('2.5.29.35', der('sequence', der(0x80, Buffer.from(authority.name)))),
    ],
  })
  return { key: writeKey(privateKey), certificate }
}

const createKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

function issue({ issuer, subject, publicKey, signer, extensions }: CertificateFields): string {
  const algorithm = der('sequence', derIdentifier('1.2.840.10045.4.3.2')) // ecdsa-with-SHA256
  const serial = Buffer.from(randomText(serialBytes), 'latin1')
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0) // positive, and in its shortest form
  const toBeSigned = der(
    'sequence',
    der(0xa0, der('integer', Buffer.from([2]))), // version 3
    der('integer', serial),
    algorithm,
    nameOf(issuer),
    der('sequence', derTime(validFrom), derTime(validUntil)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der('sequence', ...extensions)),
  )
  const certificate = der('sequence', toBeSigned, algorithm, derBits(sign('sha256', toBeSigned, signer)))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const nameOf = (commonName: string): Buffer =>
  der('sequence', der('set', der('sequence', derIdentifier('2.5.4.3'), der('text', Buffer.from(commonName)))))

const extension = (identifier: string, value: Buffer, isCritical = false): Buffer =>
  der('sequence', derIdentifier(identifier), ...(isCritical ? [derTrue] : []), der('octets', value))

const writeKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
