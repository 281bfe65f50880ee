/**
 * Disables V8's optimizing compilers until a server is used. Optimizing the code of the startup
 * costs as much time as it saves, because this code does not run again. In an idle server, the
 * optimized code would occupy 14 MB, half of them pages of the compilers themselves
 * (docs/decisions/0004-memory.md).
 */
const LOOK_MS = 200
/**
 * The server counts as used if the event loop is busy for at least this share of the time between
 * two checks. Timers and heartbeats alone never reach this share.
 */
const USED_SHARE_MIN = 0.3
/**
 * Delay before the first check, because startup does not count as use. If a startup takes longer,
 * its code may be optimized.
 */
const FIRST_LOOK_MS = 2_000

const flags = ['opt', 'maglev']
let isWaiting = false

/** Disables the compilers until the process is busy. Call this when the process starts. */
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
 * Whether the compilers are enabled by the flags of the process. If Node was started without them,
 * enabling them could crash the process: with --jitless, V8 has no machine code of its own.
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
 * Calls a function while the V8 flags are those with which Node was started. Use it to compile code
 * that is saved, and to load saved code: such code is valid only for the same flags.
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
  // The module is not imported, because an import would delay programs that do not start a server.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(`${prefix}${flag}`)
}
