/**
 * Draws a stored comparison with kube-apiserver as one SVG. For each load it shows the rate as a
 * multiple of kube-apiserver's rate, and the CPU time as a share of kube-apiserver's. The colors
 * follow the light or dark mode of the browser, and every bar also shows its figures as text.
 */
import type { Figure, KeptRun } from './figure.ts'

const WIDTH = 780
const LABEL_X = 16
const RATE = { x: 96, width: 250 } as const
const CPU = { x: 480, width: 150 } as const
const TOP = 74
const ROW = 42
const BAR = 16
const BOTTOM = 62

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 }
  .note { font-size: 11px; fill: #59636e }
  .rate { fill: #0b7285 }
  .cpu { fill: #5f3dc4 }
  .reference { stroke: #59636e; stroke-dasharray: 3 3 }
  .whole { fill: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .note { fill: #9198a1 }
    .rate { fill: #3bc9db }
    .cpu { fill: #b197fc }
    .reference { stroke: #9198a1 }
    .whole { fill: #3d444d }
  }
`

type Row = { readonly load: string; readonly rate: Figure; readonly cpu: Figure }

export function plot(run: KeptRun): string {
  const rows = rowsOf(run.figures)
  const most = Math.max(1, ...rows.map(({ rate }) => rate.value))
  const end = TOP + rows.length * ROW
  const one = RATE.x + RATE.width / most
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${end + BOTTOM}" role="img" aria-label="Rates and CPU time of Keelson and kube-apiserver">
<style>${style}</style>
${text(LABEL_X, 24, 'Keelson and kube-apiserver v1.33, each with its own etcd, on the same machine', 'title')}
${text(RATE.x, 54, "rate, as a multiple of kube-apiserver's (line: equal)", 'note')}
${text(CPU.x, 54, "CPU time, as a share of kube-apiserver's", 'note')}
${rows.map((row, at) => drawRow(row, TOP + at * ROW, most)).join('\n')}
<line class="reference" x1="${round(one)}" x2="${round(one)}" y1="${TOP - 8}" y2="${end - 8}"/>
${text(LABEL_X, end + 18, memoryText(run.figures), 'note')}
${text(LABEL_X, end + 42, `${run.date}, commit ${run.commit}, ${run.machine}: ${run.command}`, 'note')}
</svg>
`
}

/** Returns the loads that have figures for both rate and CPU time, in the order of the run. */
function rowsOf(figures: readonly Figure[]): readonly Row[] {
  const find = (name: string) => figures.find((figure) => figure.name === name)
  return figures.flatMap((rate) => {
    const load = /^(.+): rate against the reference$/.exec(rate.name)?.[1]
    const cpu = find(`${load}: CPU against the reference`)
    return load === undefined || cpu === undefined ? [] : [{ load, rate, cpu }]
  })
}

function drawRow({ load, rate, cpu }: Row, y: number, most: number): string {
  const rateWidth = (rate.value / most) * RATE.width
  const cpuWidth = Math.min(1, cpu.value) * CPU.width
  return [
    text(LABEL_X, y + 13, load),
    bar('rate', RATE.x, y, rateWidth),
    text(RATE.x + rateWidth + 6, y + 13, `${rate.value.toFixed(1)}×`),
    pairText(RATE.x, y + 29, rate),
    bar('whole', CPU.x, y, CPU.width),
    bar('cpu', CPU.x, y, cpuWidth),
    text(CPU.x + CPU.width + 6, y + 13, `${Math.round(cpu.value * 100)} %`),
    pairText(CPU.x, y + 29, cpu),
  ].join('\n')
}

function memoryText(figures: readonly Figure[]): string {
  const pair = figures.find(({ name }) => name === 'memory against the reference')?.pair
  return pair === undefined
    ? ''
    : `Memory: ${whole(pair.keelson)} against ${whole(pair.reference)} ${pair.unit}.`
}

const pairText = (x: number, y: number, { pair, note = '' }: Figure): string =>
  text(
    x,
    y,
    pair === undefined
      ? note
      : `${whole(pair.keelson)} against ${whole(pair.reference)} ${pair.unit}`,
    'note',
  )

const whole = (value: number): string => Math.round(value).toLocaleString('en')

const round = (value: number): number => Math.round(value * 10) / 10

const bar = (kind: string, x: number, y: number, width: number): string =>
  `<rect class="${kind}" x="${round(x)}" y="${y}" width="${round(width)}" height="${BAR}" rx="2"/>`

const text = (x: number, y: number, content: string, kind?: string): string =>
  `<text${kind === undefined ? '' : ` class="${kind}"`} x="${round(x)}" y="${y}">${escape(content)}</text>`

const escape = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
