/** One measured number, and what it must be. */
export type Figure = {
  readonly name: string
  readonly value: number
  readonly unit: string
  /**
   * Digits behind the point that are printed. Absent: as many as the size of the value suggests.
   */
  readonly digits?: number
  /** Absent: shown only. */
  readonly target?: { readonly atLeast: number } | { readonly below: number }
  readonly note?: string
  /** What a comparison with the reference compared. */
  readonly pair?: { readonly keelson: number; readonly reference: number; readonly unit: string }
}

/** A run that is kept in a file: `--json` writes it, `--plot` draws it. */
export type KeptRun = {
  /** The day, in UTC. */
  readonly date: string
  readonly command: string
  readonly commit: string
  readonly machine: string
  readonly figures: readonly Figure[]
}

export function isMet({ value, target }: Figure): boolean {
  if (target === undefined) return true
  return 'atLeast' in target ? value >= target.atLeast : value < target.below
}

export function describeFigure(figure: Figure): string {
  const { name, value, unit, target, note } = figure
  const digits = figure.digits ?? (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2)
  const wanted =
    target === undefined
      ? ''
      : 'atLeast' in target
        ? `at least ${target.atLeast}`
        : `below ${target.below}`
  const verdict = target === undefined ? '    ' : isMet(figure) ? 'ok  ' : 'MISS'
  return `${verdict} ${name.padEnd(52)} ${value.toFixed(digits).padStart(9)} ${unit.padEnd(6)} ${wanted.padEnd(16)} ${note ?? ''}`.trimEnd()
}
