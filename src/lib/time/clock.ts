/**
 * Clocks are injected, so that tests can control time. `monotonicMs` never jumps and is used for
 * waiting and measuring. `wallMs` is only for dates that clients will read.
 */
export type Clock = {
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
