/** Programs that tests start end with them: a test that was killed or ran into its limit does not leave a control plane behind. */

const POLL_MS = 1_000

/** Calls back once, when the process that started this one is gone. */
export function exitWithParent(onGone: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, POLL_MS)
  timer.unref()
}
