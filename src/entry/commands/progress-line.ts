/** A line on a terminal that is overwritten repeatedly. */

const EVERY_MS = 100

export type ProgressLine = {
  readonly show: ((line: string) => void) | null
  readonly end: () => void
}

/** Creates a progress line. `show` is null if the output is not a terminal. */
export function progressLine(out: {
  readonly isTTY?: boolean
  write(text: string): unknown
}): ProgressLine {
  if (out.isTTY !== true) return { show: null, end: () => undefined }
  let shownMs = Number.NEGATIVE_INFINITY
  const clear = '\r\u001b[K'
  return {
    show: (line) => {
      const nowMs = performance.now()
      if (nowMs - shownMs < EVERY_MS) return
      shownMs = nowMs
      out.write(clear + line)
    },
    end: () => void out.write(clear),
  }
}
