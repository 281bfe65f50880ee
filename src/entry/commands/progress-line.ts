/** One line at a terminal that is written over again. */

const EVERY_MS = 100

export type ProgressLine = {
  readonly show: ((line: string) => void) | null
  readonly end: () => void
}

/** `show` is null if nobody looks. */
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
