/**
 * Programs that tests start end with them: a test that was killed or ran into its limit does not
 * leave a control plane behind.
 */

const POLL_MS = 1_000

/**
 * The scripts of `keelson assets` put into it who started them: that one may be gone before Node
 * has loaded this.
 */
export const parentVariable = 'KEELSON_PARENT'

export type ParentOptions = {
  /** The value of the environment variable; absent: who is the parent now. */
  readonly given: string | undefined
  readonly onGone: () => void
}

/** Calls back once, when the process that started this one is gone. */
export function exitWithParent({ given, onGone }: ParentOptions): void {
  const parent = given !== undefined && /^\d+$/.test(given) ? Number(given) : process.ppid
  const look = (): void => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }
  const timer = setInterval(look, POLL_MS)
  timer.unref()
  look()
}
