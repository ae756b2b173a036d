/** test-deep/masked-secrets.test.ts draws thousands of other secrets. */
import { describeEncodingGuests } from '../../support/secrets/describe-encoders.ts'
import { encodingGuests } from '../../support/secrets/encoding-guests.ts'
import { fixedSeed } from '../../support/seed.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

describeEncodingGuests(await useLazaret(), { count: 40, seed: fixedSeed, programs: encodingGuests })
