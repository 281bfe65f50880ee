/**
 * Writes docs/status.md from the measurements in bench/results/.
 *
 *   node scripts/status.ts            writes the page
 *   node scripts/status.ts --check    writes nothing; exits with 1 if the page is out of date
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Figure,
  isMet,
  type KeptRun,
  printTarget,
  printValue,
} from '../bench/report/figure.ts'
import { code, table } from './reference/markdown.ts'

/** A result of a suite or a measurement, as bench/results/claims.json contains it. */
type Claim = {
  readonly area: string
  readonly claim: string
  readonly value: string
  readonly target?: string
  /** Absent if there is no target. */
  readonly isMet?: boolean
  readonly command: string
  readonly date: string
  readonly commit?: string
  /** Why a value misses its target, or a remark about the run. */
  readonly note?: string
}

const COLUMNS_MAX = 100
const root = join(import.meta.dirname, '..')
const results = join(root, 'bench', 'results')
const page = join(root, 'docs', 'status.md')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const text = statusPage()
if (readFileSync(page, 'utf8') === text) console.log('status: up to date')
else if (options.check) {
  console.error('docs/status.md is out of date: run node scripts/status.ts')
  process.exitCode = 1
} else {
  writeFileSync(page, text)
  console.log('status: written')
}

function statusPage(): string {
  const claims: readonly Claim[] = JSON.parse(readResult('claims.json'))
  const missed = claims.filter((claim) => claim.isMet === false)
  return [
    '# Status',
    '',
    'Measurements of Keelson, and the commands that repeat them. `node scripts/status.ts` writes this',
    'page from the files in bench/results/. Older results are in the history of git. The machine is a',
    'guest with two cores and 24 GB, which the server, etcd and the load share. Its speed varies by a',
    'factor of two between days, so ratios say more than absolute values.',
    '',
    `Of ${claims.filter((claim) => claim.isMet !== undefined).length} claims with a target, ${missed.length} miss it. They are marked **missed**, and a note gives the cause.`,
    '',
    ...[...Map.groupBy(claims, ({ area }) => area)].flatMap(([area, rows]) =>
      claimsTable(area, rows),
    ),
    ...runs().flatMap(runTable),
  ].join('\n')
}

function claimsTable(area: string, claims: readonly Claim[]): readonly string[] {
  return [
    `## ${area}`,
    '',
    table(
      ['claim', 'value', 'target', 'command', 'date'],
      claims.map(({ claim, value, target, isMet: met, command, date, commit }) => [
        claim,
        met === false ? `${value} (**missed**)` : value,
        target ?? '',
        code(command),
        commit === undefined ? date : `${date}, ${commit}`,
      ]),
    ),
    '',
    ...claims.flatMap(({ claim, note }) =>
      note === undefined ? [] : listItem(`${claim}: ${note}`),
    ),
    ...(claims.some(({ note }) => note !== undefined) ? [''] : []),
  ]
}

/** Formats a list item, in lines of at most 100 columns. */
function listItem(item: string): readonly string[] {
  const lines: string[] = []
  let line = '-'
  for (const word of item.split(' ')) {
    if (line.length + 1 + word.length > COLUMNS_MAX) {
      lines.push(line)
      line = ' '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}

/** The stored runs of the bench, in the order of their file names. */
function runs(): readonly KeptRun[] {
  return readdirSync(results)
    .filter((name) => name.endsWith('.json') && name !== 'claims.json')
    .toSorted()
    .map((name): KeptRun => JSON.parse(readResult(name)))
}

function runTable({ command, date, commit, machine, figures }: KeptRun): readonly string[] {
  return [
    `## ${code(command)}`,
    '',
    `${date}, ${commit}, ${machine}.`,
    '',
    table(
      ['figure', 'value', 'target'],
      figures.map((figure) => [figure.name, shown(figure), printTarget(figure)]),
    ),
    '',
  ]
}

function shown(figure: Figure): string {
  const note = figure.note === undefined ? '' : ` (${figure.note})`
  return `${printValue(figure)} ${figure.unit}${note}${isMet(figure) ? '' : ' (**missed**)'}`
}

function readResult(name: string): string {
  return readFileSync(join(results, name), 'utf8')
}
