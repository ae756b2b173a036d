/** A secret goes to the hosts that it is for, and to no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { leadsTo, parseSecretHost } from '../../../src/jail/edge/secrets/secret-hosts.ts'

const goes = (text: string, host: string, port: number) => leadsTo(parseSecretHost(text), { host, port })

test('a secret goes to its own host, at its own port', () => {
  assert.ok(goes('api.example.com', 'api.example.com', 443))
  assert.ok(goes('api.example.com:8443', 'api.example.com', 8443))
  assert.ok(goes('http://api.example.com', 'api.example.com', 80))
  assert.ok(goes('localhost:3000', 'localhost', 3000))
})

test('a secret goes to no other host and no other port', () => {
  for (const host of ['example.com', 'www.api.example.com', 'xapi.example.com', 'api.example.com.evil.org'])
    assert.ok(!goes('api.example.com', host, 443), host)
  assert.ok(!goes('api.example.com', 'api.example.com', 80))
  assert.ok(!goes('api.example.com:8443', 'api.example.com', 443))
  assert.ok(!goes('http://api.example.com', 'api.example.com', 443))
  assert.ok(!goes('localhost:3000', 'api.example.com', 3000))
})

test('a wildcard is for every name below it, and not for the name itself', () => {
  assert.ok(goes('*.example.com', 'api.example.com', 443))
  assert.ok(goes('*.example.com', 'a.b.example.com', 443))
  for (const host of ['example.com', 'badexample.com', 'example.com.evil.org'])
    assert.ok(!goes('*.example.com', host, 443), host)
})

test('an address gets no secret', () => {
  for (const text of ['203.0.113.7', '10.0.0.0/8', '[2001:db8::1]:443'])
    assert.throws(() => parseSecretHost(text), /is for hosts with a name/, text)
})
