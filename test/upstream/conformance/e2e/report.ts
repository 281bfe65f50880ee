/** Reports of a run: a table for the terminal, Markdown, and JUnit for other programs. */
import type { Outcome } from './junit.ts'

export type Row = { readonly outcome: Outcome; readonly reference: Outcome | undefined }

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ outcome, reference }) =>
    [outcome.result, outcome.seconds.toFixed(1), besideOf(reference), outcome.name].join('\t'),
  )
  return ['result\tseconds\treference\ttest', ...lines].join('\n')
}

export function summaryOf(group: string, rows: readonly Row[]): string {
  const count = (result: Outcome['result']): number =>
    rows.filter(({ outcome }) => outcome.result === result).length
  // Compare the times only of tests that passed on both servers.
  const both = rows.filter(
    ({ outcome, reference }) => outcome.result === 'passed' && reference?.result === 'passed',
  )
  const ours = both.reduce((sum, { outcome }) => sum + outcome.seconds, 0)
  const theirs = both.reduce((sum, { reference }) => sum + (reference?.seconds ?? 0), 0)
  const times =
    both.length === 0
      ? ''
      : `; ${both.length} passed on both, ${ours.toFixed(0)} s and ${theirs.toFixed(0)} s on the reference`
  return `${group}: ${rows.length} tests, ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped${times}`
}

/** Lists failures first, then all tests grouped by the SIG that owns them. */
export function markdownOf(group: string, rows: readonly Row[]): string {
  const failed = rows.filter(({ outcome }) => outcome.result === 'failed')
  const bySig = Map.groupBy(rows, ({ outcome }) => sigOf(outcome.name))
  return [
    `# ${summaryOf(group, rows)}`,
    '',
    'Seconds are those of the test alone. The machine may have been busy.',
    '',
    ...(failed.length === 0 ? [] : ['## Failed', '', ...failed.flatMap(failureOf), '']),
    ...[...bySig].flatMap(([sig, own]) => [`## ${sig}`, '', ...markdownTable(own), '']),
  ].join('\n')
}

/** Returns the SIG at the beginning of a name, such as `[sig-auth] Certificates`. */
const sigOf = (name: string): string => /^\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? 'others'

const failureOf = ({ outcome, reference }: Row): string[] => [
  `- ${outcome.name} (reference: ${besideOf(reference)})`,
  `  ${outcome.said}`,
]

function markdownTable(rows: readonly Row[]): string[] {
  const lines = rows.map(
    ({ outcome: { name, result, seconds }, reference }) =>
      `| ${cell(name.replace(/^\[sig-[a-z-]+\] /, ''))} | ${result} | ${seconds.toFixed(1)} | ${besideOf(reference)} |`,
  )
  return ['| test | result | seconds | reference |', '|---|---|---:|---:|', ...lines]
}

export function junitOf(group: string, rows: readonly Row[]): string {
  const cases = rows.map(({ outcome: { name, result, seconds, said } }) => {
    const inner =
      result === 'passed'
        ? ''
        : `<${result === 'failed' ? 'failure' : 'skipped'} message="${xml(said)}"/>`
    return `  <testcase name="${xml(name)}" time="${seconds}">${inner}</testcase>`
  })
  return `<testsuite name="${group}" tests="${rows.length}">\n${cases.join('\n')}\n</testsuite>\n`
}

const besideOf = (reference: Outcome | undefined): string =>
  reference === undefined ? '-' : `${reference.result} ${reference.seconds.toFixed(1)}`

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`)

const xml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
