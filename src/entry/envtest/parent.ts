/**
 * Ends a program when the test that started it ends. A test that is killed, or that exceeds its
 * time limit, therefore leaves no control plane behind.
 */

const POLL_MS = 1_000

/**
 * The environment variable that contains the ID of the parent process. The scripts of `keelson
 * assets` set it, because the parent may have exited before Node has loaded this module.
 */
export const parentVariable = 'KEELSON_PARENT'

export type ParentOptions = {
  /**
   * The value of the environment variable: the ID of the process to wait for. If undefined, the
   * program waits for its current parent process.
   */
  readonly given: string | undefined
  readonly onGone: () => void
}

/** Calls `onGone` once, when the parent process has exited. */
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
