/**
 * Frees the memory that is no longer needed after startup. V8 collects garbage only when memory is
 * allocated, and an idle server allocates almost none, so it would retain a tenth of its memory
 * without need. A collection blocks the event loop for about 40 ms, so it is done only once, and
 * only when the event loop is idle.
 */
const LOOK_MS = 500
/**
 * Maximum number of checks. A process that is busy for this long allocates enough memory to trigger
 * a collection.
 */
const LOOKS_MAX = 120
/**
 * The event loop counts as idle if it was busy for at most this share of the time between two
 * checks. Heartbeats and timers alone stay below this share.
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
  // `node:v8` and `node:vm` are needed only once, after startup. Importing them at the top of this
  // file would delay the startup.
  const [{ setFlagsFromString }, { runInNewContext }] = [
    process.getBuiltinModule('node:v8'),
    process.getBuiltinModule('node:vm'),
  ]
  setFlagsFromString('--expose-gc')
  const gc: (options: object) => void = runInNewContext('gc')
  // Turn the flag off again. Compiled code that V8 saves or loads is valid only for the flags with
  // which it was compiled.
  setFlagsFromString('--no-expose-gc')
  // With the flavor `last-resort`, the collection also shrinks the young generation.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
