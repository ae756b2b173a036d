/** 10,000 other secrets each time, in whatever way libraries write them: nothing comes back. */
import { test } from 'node:test'

import { describeEncoders } from '../test/support/secrets/describe-encoders.ts'
import { describeEncodingGuests } from '../test/support/secrets/describe-encoding-guests.ts'
import { drawSeed } from '../test/support/seed.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

const seed = drawSeed()
const count = 10_000
test('the seed', (context) => context.diagnostic(`LAZARET_TEST_SEED=${seed}`))

const guests = await useLazaret()
describeEncoders({ count, seed })
describeEncodingGuests(guests, { count, seed })
