/**
 * Clocks are injected, so that a test can control time. Waiting and measuring use `monotonicMs`,
 * which never jumps. Only dates that a client will read use `wallMs`.
 */
export type Clock = {
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
