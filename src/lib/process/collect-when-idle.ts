/**
 * Frees the memory that a start leaves behind. V8 collects garbage when more memory is allocated,
 * and an idle server allocates nothing: it would keep a tenth of its memory for nothing. Collecting
 * blocks the event loop for some 40 ms, so it is done once, and only when the loop is idle.
 */
const LOOK_MS = 500
/**
 * Maximum number of checks. A process that is busy for this long allocates enough to trigger a
 * collection.
 */
const LOOKS_MAX = 120
/**
 * Maximum share of the time between two checks in which an idle loop is busy: with heartbeats and
 * timers only.
 */
const IDLE_SHARE_MAX = 0.03

export function collectWhenIdle(): void {
  let before = performance.eventLoopUtilization()
  let looks = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const isIdle = performance.eventLoopUtilization(now, before).utilization < IDLE_SHARE_MAX
    before = now
    if (!isIdle && ++looks < LOOKS_MAX) return
    clearInterval(timer)
    if (isIdle) collect()
  }, LOOK_MS)
  timer.unref()
}

function collect(): void {
  // Not imported: a start would wait for modules that are used once, later.
  const [{ setFlagsFromString }, { runInNewContext }] = [
    process.getBuiltinModule('node:v8'),
    process.getBuiltinModule('node:vm'),
  ]
  setFlagsFromString('--expose-gc')
  const gc: (options: object) => void = runInNewContext('gc')
  // Code that V8 compiles is valid only for the same flags.
  setFlagsFromString('--no-expose-gc')
  // This flavor also shrinks the young generation.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
