/** Two hundred snippets that take all the memory they may have. */
import { after } from 'node:test'

import { endSnippetThreads } from '../../src/adapters/snippet-tool/index.ts'
import { testMemoryOfMany } from '../../test/support/sizes/snippet-memory-tests.ts'

after(endSnippetThreads)

testMemoryOfMany(200)
