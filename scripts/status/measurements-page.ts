/**
 * Generates docs/reference/measurements.md, which lists all claims by area, the stored runs, and
 * how readers judged samples of texts.
 */
import {
  type Figure,
  isMet,
  type KeptRun,
  printTarget,
  printValue,
} from '../../bench/report/figure.ts'
import type { LanguageVerdicts } from '../../test/support/language-sample.ts'
import { code, type Page, table } from '../reference/markdown.ts'
import type { Claim, Results } from './results.ts'
import { mark, shownCommand } from './status-page.ts'

const COLUMNS_MAX = 100

export function measurementsPage({ claims, runs, language }: Results): Page {
  const lines = [
    '# Measurements',
    '',
    mark,
    '',
    'All measurements of Keelson, and the commands that repeat them. [Status](../status.md) has the most',
    'important ones. A missed target is marked **missed**, and a note gives the cause. Older results are',
    'in the history of git. The machine is a guest with two cores and 24 GB, which the server, etcd and',
    'the load share.',
    '',
    ...[...Map.groupBy(claims, ({ area }) => area)].flatMap(([area, rows]) =>
      claimsTable(area, rows),
    ),
    ...runs.flatMap((run) => runTable(run)),
    ...languageTable(language),
  ]
  return { file: 'reference/measurements.md', text: lines.join('\n') }
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
        shownCommand(command),
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

/** Formats a list item in lines of at most 100 columns. */
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

/** Returns a row for each sample, with the number of texts of each kind that failed. */
function languageTable(verdicts: readonly LanguageVerdicts[]): readonly string[] {
  if (verdicts.length === 0) return []
  return [
    '## Language',
    '',
    'Texts that a reader who had not seen the project found unclear. The files',
    '`bench/results/language-*.json` have the remarks.',
    '',
    table(
      ['date', 'sample', 'comments', 'help and log texts', 'names of tests', 'sentences of docs'],
      verdicts.map(({ date, seed, commit, counts }) => [
        `${date}, ${commit}`,
        code(`node test/support/language-sample.ts --seed ${seed}`),
        ...[counts.comment, counts.message, counts.test, counts.sentence].map(
          ({ judged, failed }) => `${failed} of ${judged}`,
        ),
      ]),
    ),
    '',
  ]
}
