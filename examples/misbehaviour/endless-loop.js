// Never ends, and blocks even the timers of its own process.
console.log('looping')
let turns = 0
for (;;) turns++
