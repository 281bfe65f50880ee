/**
 * Keeps V8's optimizing compilers off until a server is used. Code that is hot during a start is
 * not called again: optimizing it takes as long as it saves. An idle server would keep 14 MB for
 * it, half of them pages of the compilers themselves (docs/decisions/0004-memory.md).
 */
const LOOK_MS = 200
/**
 * Minimum share of the time between two checks in which a used server is busy. Timers and
 * heartbeats never take this much.
 */
const USED_SHARE_MIN = 0.3
/**
 * Delay before the first check, because a start is not use. A start that takes longer may be
 * optimized.
 */
const FIRST_LOOK_MS = 2_000

const flags = ['opt', 'maglev']
let isWaiting = false

/** Turns the compilers off until the process is busy. Call it when the process starts. */
export function optimizeWhenUsed(): void {
  if (!isOptimizing()) return
  isWaiting = true
  setFlags('--no-')
  setTimeout(() => {
    let before = performance.eventLoopUtilization()
    const timer = setInterval(() => {
      const now = performance.eventLoopUtilization()
      const isUsed = performance.eventLoopUtilization(now, before).utilization >= USED_SHARE_MIN
      before = now
      if (!isUsed) return
      clearInterval(timer)
      isWaiting = false
      setFlags('--')
    }, LOOK_MS).unref()
  }, FIRST_LOOK_MS).unref()
}

/**
 * Whether the flags of the process leave the compilers on. If Node was started without them,
 * turning them on could crash the process: with --jitless, V8 has no machine code of its own.
 */
function isOptimizing(): boolean {
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
    .join(' ')
    .replaceAll('_', '-')
  return (
    !/--(?:no-?)?(?:opt|turbofan|maglev|jitless|lite-mode)\b/.test(given) &&
    'WebAssembly' in globalThis
  )
}

/**
 * Calls a function with the flags that Node was started with. Code that V8 compiles is valid only
 * for the same flags, so it is saved and used with these.
 */
export function withGivenFlags<Result>(call: () => Result): Result {
  if (!isWaiting) return call()
  setFlags('--')
  try {
    return call()
  } finally {
    setFlags('--no-')
  }
}

function setFlags(prefix: '--' | '--no-'): void {
  // Not imported: it would be one more module at the start of a program that may not start a
  // server.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(`${prefix}${flag}`)
}
