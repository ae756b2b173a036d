/** 10,000 other secrets each time, in whatever way libraries write them: nothing comes back. */
import { test } from 'node:test'

import { describeEncoders, describeEncodingGuests } from '../test/support/secrets/describe-encoders.ts'
import { encodingGuests } from '../test/support/secrets/encoding-guests.ts'
import { drawSeed } from '../test/support/seed.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

const draw = { count: 10_000, seed: drawSeed() }
test('the seed', (context) => context.diagnostic(`LAZARET_TEST_SEED=${draw.seed}`))

const guests = await useLazaret()
describeEncoders(draw)
describeEncodingGuests(guests, { ...draw, programs: encodingGuests })
