/**
 * Time as a part that is handed in, so that a test can move it. Waiting and measuring use `monotonicMs`, which never
 * jumps; only what a client will read as a date uses `wallMs`.
 */
export type Clock = {
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
