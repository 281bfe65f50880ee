/**
 * Ends programs together with the test that started them. A test that was killed, or that ran into
 * its time limit, leaves no control plane behind.
 */

const POLL_MS = 1_000

/**
 * The environment variable with the id of the parent process. The scripts of `keelson assets` set
 * it, because the parent may be gone before Node has loaded this module.
 */
export const parentVariable = 'KEELSON_PARENT'

export type ParentOptions = {
  /** The value of the environment variable. Absent: the current parent counts. */
  readonly given: string | undefined
  readonly onGone: () => void
}

/** Calls `onGone` once, when the process that started this one is gone. */
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
