/** A measured value and its target. */
export type Figure = {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Number of decimal places to print. If absent, it depends on the size of the value. */
  readonly digits?: number
  /** The target value. Without a target, the figure is only shown. */
  readonly target?: { readonly atLeast: number } | { readonly below: number }
  readonly note?: string
  /** The values of Keelson and kube-apiserver, whose ratio a comparison shows. */
  readonly pair?: { readonly keelson: number; readonly reference: number; readonly unit: string }
}

/** A run that `--json` writes to a file and from which `--plot` draws a picture. */
export type KeptRun = {
  /** The date of the run, in UTC. */
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
  const { name, unit, target, note } = figure
  const verdict = target === undefined ? '    ' : isMet(figure) ? 'ok  ' : 'MISS'
  return `${verdict} ${name.padEnd(52)} ${printValue(figure).padStart(9)} ${unit.padEnd(6)} ${printTarget(figure).padEnd(16)} ${note ?? ''}`.trimEnd()
}

export function printValue({ value, digits }: Figure): string {
  return value.toFixed(digits ?? (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2))
}

export function printTarget({ target }: Figure): string {
  if (target === undefined) return ''
  return 'atLeast' in target ? `at least ${short(target.atLeast)}` : `below ${short(target.below)}`
}

const short = (value: number): number => Number(value.toFixed(3))
