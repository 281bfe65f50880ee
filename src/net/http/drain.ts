/**
 * Ends long-lived responses one after another, so that their clients do not all reconnect to the
 * next server simultaneously.
 */

/**
 * Minimum number of responses to end per second, as in kube-apiserver. If there are only a few
 * responses, ending them does not take the whole grace period.
 */
const PER_SECOND_MIN = 200
const TICK_MS = 10

/**
 * Ends all responses within `graceMs`, and then resolves. With 0, all responses end immediately.
 */
export async function drain(
  answers: Iterable<{ readonly close: () => void }>,
  graceMs: number,
): Promise<void> {
  const left = [...answers]
  if (graceMs <= 0) {
    for (const answer of left) answer.close()
    return
  }
  const perMs = Math.max(PER_SECOND_MIN / 1000, left.length / graceMs)
  const startMs = performance.now()
  let ended = 0
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(left.length, Math.ceil((performance.now() - startMs) * perMs))
      for (; ended < due; ended++) left[ended]?.close()
      if (ended < left.length) return
      clearInterval(timer)
      resolve()
    }, TICK_MS)
  })
}
