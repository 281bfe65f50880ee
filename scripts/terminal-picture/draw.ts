/**
 * Draws the text of a terminal as one SVG. The colors follow the light or dark mode of the browser.
 */
import type { TypedCommand } from './session.ts'

const FONT_SIZE = 13
const LINE = 18
const PADDING = 20
/** Width of the picture. 80 columns of every common monospace font fit into this width. */
const WIDTH = 690

const style = `
  text { font: ${FONT_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
  .screen { fill: #f6f8fa; stroke: #d1d9e0 }
  .bold { font-weight: 600 }
  .dim { fill: #59636e }
  .cyan { fill: #0b7285 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .screen { fill: #161b22; stroke: #3d444d }
    .dim { fill: #9198a1 }
    .cyan { fill: #3bc9db }
  }
`

type Style = 'bold' | 'dim' | 'cyan'

/** The parameters of the escape sequences that the program uses, and what they turn on or off. */
const escapes: ReadonlyMap<string, { readonly on?: Style; readonly off?: readonly Style[] }> =
  new Map([
    ['1', { on: 'bold' }],
    ['2', { on: 'dim' }],
    ['22', { off: ['bold', 'dim'] }],
    ['36', { on: 'cyan' }],
    ['39', { off: ['cyan'] }],
  ])

/** Draws commands and their output. `label` describes the picture for readers who cannot see it. */
export function drawTerminal(commands: readonly TypedCommand[], label: string): string {
  const lines = commands.flatMap(({ command, shown }, at) => [
    // The first command is still running, so the other commands are typed in another terminal.
    ...(at === 1 ? ['', rule, ''] : []),
    `${DIM}$${NOT_DIM} ${command}`,
    ...(shown === '' ? [] : shown.split('\n')),
  ])
  const height = lines.length * LINE + 2 * PADDING
  const texts = lines.map((line, at) => drawLine(line, PADDING + FONT_SIZE + at * LINE))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(label)}">
<style>${style}</style>
<rect class="screen" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
${texts.filter((text) => text !== '').join('\n')}
</svg>
`
}

const DIM = '\u001b[2m'
const NOT_DIM = '\u001b[22m'
const rule = `${DIM}${'─'.repeat(78)}${NOT_DIM}`

function drawLine(line: string, y: number): string {
  const on = new Set<Style>()
  // `split` returns, alternately, a text and the parameter of the escape sequence that follows it.
  const parts = line.split(escapePattern).map((part, at) => {
    if (at % 2 === 1) {
      apply(part, on)
      return ''
    }
    if (part === '' || on.size === 0) return escape(part)
    return `<tspan class="${[...on].join(' ')}">${escape(part)}</tspan>`
  })
  const text = parts.join('')
  return text === '' ? '' : `<text xml:space="preserve" x="${PADDING}" y="${y}">${text}</text>`
}

const escapePattern = new RegExp(`${String.fromCodePoint(27)}\\[(\\d*)m`)

function apply(parameter: string, on: Set<Style>): void {
  const change = escapes.get(parameter)
  if (change === undefined)
    throw new Error(`the picture has no style for the escape sequence ${parameter}: add one`)
  for (const name of change.off ?? []) on.delete(name)
  if (change.on !== undefined) on.add(change.on)
}

const escape = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
