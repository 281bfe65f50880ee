/**
 * Disables V8's optimizing compilers until a server is used. Optimizing the code of the startup
 * costs as much time as it saves, because this code does not run again. In an idle server, the
 * optimized code would occupy 14 MB, half of them pages of the compilers themselves
 * (docs/decisions/0004-memory.md).
 *
 * Also disables incremental marking during startup. Otherwise V8 starts to collect garbage shortly
 * before the server is ready, which takes 70 ms of CPU time and finds little garbage.
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

const compilers = ['opt', 'maglev']
const marking = 'incremental-marking'
/** The V8 features that are disabled now. */
let disabled: readonly string[] = []

/**
 * Disables the compilers until the process is busy, and incremental marking until `FIRST_LOOK_MS`.
 * Call this when the process starts.
 */
export function optimizeWhenUsed(): void {
  if (!hasDefaultFlags()) return
  disabled = [...compilers, marking]
  setFlags('--no-', disabled)
  setTimeout(() => {
    disabled = compilers
    setFlags('--', [marking])
    let before = performance.eventLoopUtilization()
    const timer = setInterval(() => {
      const now = performance.eventLoopUtilization()
      const isUsed = performance.eventLoopUtilization(now, before).utilization >= USED_SHARE_MIN
      before = now
      if (!isUsed) return
      clearInterval(timer)
      disabled = []
      setFlags('--', compilers)
    }, LOOK_MS).unref()
  }, FIRST_LOOK_MS).unref()
}

/**
 * Whether the flags of the process leave the compilers and incremental marking enabled. If Node was
 * started without compilers, enabling them could crash the process: with --jitless, V8 has no
 * machine code of its own.
 */
function hasDefaultFlags(): boolean {
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
    .join(' ')
    .replaceAll('_', '-')
  return (
    !/--(?:no-?)?(?:opt|turbofan|maglev|jitless|lite-mode|incremental-marking)\b/.test(given) &&
    'WebAssembly' in globalThis
  )
}

/**
 * Calls a function while the V8 flags are those with which Node was started. Use it to compile code
 * that is saved, and to load saved code: such code is valid only for the same flags.
 */
export function withGivenFlags<Result>(call: () => Result): Result {
  setFlags('--', disabled)
  try {
    return call()
  } finally {
    setFlags('--no-', disabled)
  }
}

function setFlags(prefix: '--' | '--no-', features: readonly string[]): void {
  if (features.length === 0) return
  // The module is not imported, because an import would delay programs that do not start a server.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const feature of features) setFlagsFromString(`${prefix}${feature}`)
}
