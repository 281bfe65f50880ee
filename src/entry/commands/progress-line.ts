/** A line on a terminal that is overwritten repeatedly. */

const EVERY_MS = 100

export type ProgressLine = {
  readonly show: ((line: string) => void) | null
  readonly end: () => void
}

export type ProgressOutput = {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/**
 * Creates a progress line. `show` is null if the output is not a terminal, or is a terminal that
 * cannot clear a line. `terminalName` is the value of the environment variable TERM.
 */
export function progressLine(out: ProgressOutput, terminalName?: string): ProgressLine {
  if (out.isTTY !== true || terminalName === 'dumb') return { show: null, end: () => undefined }
  let shownMs = Number.NEGATIVE_INFINITY
  const clear = '\r\u001b[K'
  return {
    show: (line) => {
      const nowMs = performance.now()
      if (nowMs - shownMs < EVERY_MS) return
      shownMs = nowMs
      out.write(clear + line)
    },
    end: () => {
      // Show the next line immediately, no matter how recently the last line was shown.
      shownMs = Number.NEGATIVE_INFINITY
      out.write(clear)
    },
  }
}
