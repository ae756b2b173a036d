/** More processes than a watchdog can list. Without namespaces: test-deep. */
import { test } from 'node:test'

import { endsByItsCrowd } from '../../support/sizes/crowd.ts'

test('4,500 processes in a cell end their run if no cgroup counts them', () => endsByItsCrowd([]))
