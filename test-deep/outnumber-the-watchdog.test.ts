/** More processes than a watchdog can list, on a machine without namespaces. */
import { test } from 'node:test'

import { endsByItsCrowd } from '../test/support/sizes/crowd.ts'

const isRoot = process.getuid?.() === 0

test('4,500 processes without namespaces end their run if no cgroup counts them', () =>
  endsByItsCrowd(isRoot ? ['user-namespaces', 'sys-admin'] : ['user-namespaces']))
