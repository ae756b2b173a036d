// Never comes back, and never lets a timer of its own process run either.
console.log('looping')
let turns = 0
for (;;) turns++
