import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

import { lookAtHost } from '../../../src/jail/view/host-view.ts'

test('only what programs need to start is shown of the host’s /etc, and no file for passwords', () => {
  const { etc, texts } = lookAtHost()
  const harmless = [
    /^\/etc\/(alternatives|fonts|ld\.so\.cache|mime\.types|ssl\/(certs|openssl\.cnf))$/,
    /^\/etc\/python3(\.\d+)?$/,
    /^\/etc\/java-\d+-openjdk\/(security|jfr|jvm-\w+\.cfg|logging\.properties)$/,
    /^\/etc\/(pki\/(ca-trust\/extracted|tls\/cert\.pem|tls\/certs\/ca-bundle\.crt)|crypto-policies)$/,
    /^\/etc\/(ImageMagick-[67]|OpenCL|R\/(Makeconf|Renviron|ldpaths|repositories)|X11\/rgb\.txt)$/,
    /^\/etc\/(dpkg\/origins|ghostscript|groff|manpath\.config|matplotlibrc|maven\/(logging|m2\.conf))$/,
    /^\/etc\/(nginx\/mime\.types|openmpi\/openmpi-mca-params\.conf|perl|texmf|xml)$/,
  ]
  assert.deepEqual(
    etc.filter((path) => !harmless.some((pattern) => pattern.test(path))),
    [],
  )
  assert.deepEqual(
    etc.filter((path) => !existsSync(path)),
    [],
  )
  assert.ok(etc.length > 0)
  const copied = [
    /^\/etc\/(debian_version|locale\.alias|ld\.so\.conf|java-\d+-openjdk\/[\w.]+)$/,
    /^\/sys\/devices\/system\/cpu\/\w+$/,
    /^\/sys\/kernel\/mm\/transparent_hugepage\/(enabled|hpage_pmd_size)$/,
  ]
  assert.deepEqual(
    Object.keys(texts).filter((path) => !copied.some((pattern) => pattern.test(path))),
    [],
  )
})
