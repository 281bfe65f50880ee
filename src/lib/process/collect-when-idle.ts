/**
 * Gives back what a start leaves behind. V8 collects garbage when more is allocated, and an idle
 * server allocates nothing: it would keep a tenth of its memory for nothing, as would each of two
 * hundred on one machine. Collecting holds up the event loop for some 40 ms, so it is done once,
 * and only when nothing happens.
 */
const LOOK_MS = 500
/** One that is busy for so long allocates enough to be collected anyway. */
const LOOKS_MAX = 120
/** Of the time between two looks: heartbeats and timers alone. */
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
  // Code that V8 compiles is good for the same flags only.
  setFlagsFromString('--no-expose-gc')
  // The flavour that also makes the nursery small again.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
