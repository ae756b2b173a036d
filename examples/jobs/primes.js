// Counts primes with a sieve and finds the widest gap between two of them.
const { limit } = input
const isComposite = new Uint8Array(limit + 1)
for (let number = 2; number * number <= limit; number++) {
  if (isComposite[number]) continue
  for (let multiple = number * number; multiple <= limit; multiple += number) isComposite[multiple] = 1
}

let count = 0
let previous = 2
let widestGap = { from: 2, to: 3 }
for (let number = 2; number <= limit; number++) {
  if (isComposite[number]) continue
  count++
  if (number - previous > widestGap.to - widestGap.from) widestGap = { from: previous, to: number }
  previous = number
}

console.log(`${count} primes up to ${limit}`)
;({ count, widestGap })
