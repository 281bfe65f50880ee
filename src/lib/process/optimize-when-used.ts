/**
 * Lets V8's optimizing compilers wait until a server is used. What is hot during a start is not
 * called again: to optimize it takes as long as it saves, and an idle server keeps 14 MB for it,
 * half of them pages of the compilers themselves (docs/decisions/0004-memory.md).
 */
const LOOK_MS = 200
/** Of the time between two looks, which timers and heartbeats never take. */
const USED_SHARE_MIN = 0.3
/** A start is not use. One that takes longer may be optimized. */
const FIRST_LOOK_MS = 2_000

const flags = ['opt', 'maglev']
let isWaiting = false

/** Of a process that begins. */
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
 * Where Node was started without a compiler V8 must not be told to use it: without any code of its
 * own (--jitless) the process would crash.
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
 * Code that V8 compiles is good for the same flags only: it is saved and used with those that Node
 * was started with.
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
  // Not imported: a module more at the start of a program that may not start a server.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(`${prefix}${flag}`)
}
