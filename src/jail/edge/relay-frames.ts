/** The messages between host and relay, framed as in frames.ts; native/relay/relay.h has the same numbers. */
export const relayFrame = {
  open: 1,
  admit: 2,
  drop: 3,
  connect: 4,
  refuse: 5,
  answer: 6,
  ready: 64,
  question: 65,
  arrived: 66,
  connected: 67,
  closed: 68,
  dropped: 69,
  failed: 70,
} as const

/** Why the relay closed a connection. */
export const closedBecause = { ended: 0, failed: 1, bytes: 2, dropped: 3 } as const

/** Cells and spaces with a policy at one time. */
export const doorsMax = 4096
