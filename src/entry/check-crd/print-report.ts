/**
 * The output of `keelson check-crd`: a table that shows for each object which versions accept it,
 * and the errors and warnings.
 */
import { describeObject } from '../apply/object-names.ts'
import type { Manifest } from '../apply/parse-manifests.ts'
import type { Outcome, Verdict } from './check-objects.ts'

export type VersionVerdicts = {
  readonly minor: number
  readonly verdicts: ReadonlyMap<Manifest, Verdict>
}

export type Report = {
  readonly versions: readonly VersionVerdicts[]
  readonly manifests: readonly Manifest[]
}

export const countRefused = ({ versions, manifests }: Report): number =>
  manifests.filter((manifest) =>
    versions.some(({ verdicts }) => verdicts.get(manifest)?.outcome === 'refused'),
  ).length

/** Returns the table, the errors and warnings, and a summary line. */
export function printReport(report: Report): string {
  const { versions, manifests } = report
  const width = 'refused'.length
  const header = versions.map(({ minor }) => `1.${minor}`)
  const rows = manifests.map((manifest) => ({
    cells: versions.map((version) => outcomeOf(version, manifest)),
    name: nameOf(manifest),
  }))
  const lines = [{ cells: header, name: 'OBJECT' }, ...rows].map(({ cells, name }) =>
    [...cells.map((cell) => cell.padEnd(width)), name].join('  '),
  )
  return `${[lines.join('\n'), ...describeReasons(report), summarize(report)].join('\n\n')}\n`
}

/**
 * Maximum length of the errors and warnings in the summary of a GitHub Actions job. GitHub accepts
 * one MiB for each step of a job.
 */
const SUMMARY_CHARACTERS_MAX = 200_000

/** Returns the summary for a GitHub Actions job: HTML that Markdown can contain. */
export function printSummary(report: Report): string {
  const { versions, manifests } = report
  const row = (tag: string, cells: readonly string[]): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`
  const header = row('th', ['Object', ...versions.map(({ minor }) => `1.${minor}`)])
  const rows = manifests.map((manifest) =>
    row('td', [nameOf(manifest), ...versions.map((version) => outcomeOf(version, manifest))]),
  )
  const reasons = describeReasons(report).join('\n\n')
  const shown =
    reasons.length > SUMMARY_CHARACTERS_MAX
      ? `${reasons.slice(0, SUMMARY_CHARACTERS_MAX)}…\nThe log of the step has all reasons.`
      : reasons
  const details = shown === '' ? [] : [`<pre>\n${escapeHtml(shown)}\n</pre>`]
  return `${[
    '### keelson check-crd',
    `<table>\n${[header, ...rows].join('\n')}\n</table>`,
    ...details,
    summarize(report),
  ].join('\n\n')}\n`
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const outcomeOf = ({ verdicts }: VersionVerdicts, manifest: Manifest): Outcome =>
  verdicts.get(manifest)?.outcome ?? 'skipped'

const nameOf = ({ source, object }: Manifest): string =>
  oneLine(`${source}: ${describeObject(object)}`)

/** Replaces line breaks and control characters, which a name in a file can contain. */
const oneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ')

function summarize(report: Report): string {
  const refused = countRefused(report)
  const { length } = report.manifests
  const objects = length === 1 ? '1 object' : `${length} objects`
  return refused === 0
    ? `All versions accept ${length === 1 ? 'the object' : `all ${objects}`}.`
    : `${refused} of ${objects} ${refused === 1 ? 'is' : 'are'} refused by at least one version.`
}

/** Returns a paragraph for each object that has errors or warnings. */
const describeReasons = ({ versions, manifests }: Report): string[] =>
  manifests.flatMap((manifest) => {
    const reasons = new Map<string, number[]>()
    for (const { minor, verdicts } of versions) {
      const { errors = [], warnings = [] } = verdicts.get(manifest) ?? {}
      const texts = [
        ...errors.map((text) => `refused: ${text}`),
        ...warnings.map((text) => `warning: ${text}`),
      ]
      for (const text of new Set(texts)) {
        const minors = reasons.get(text) ?? []
        reasons.set(text, [...minors, minor])
      }
    }
    const lines = [...reasons].map(
      ([text, minors]) => `  ${describeMinors(minors)} ${indent(text)}`,
    )
    return lines.length === 0 ? [] : [[nameOf(manifest), ...lines].join('\n')]
  })

const indent = (text: string): string => text.split('\n').map(oneLine).join('\n      ')

/** Returns the names of versions, such as `1.31, 1.33-1.35`. The versions must be ascending. */
function describeMinors(minors: readonly number[]): string {
  const ranges: { first: number; last: number }[] = []
  for (const minor of minors) {
    const range = ranges.at(-1)
    if (range?.last === minor - 1) range.last = minor
    else ranges.push({ first: minor, last: minor })
  }
  return ranges
    .map(({ first, last }) => (first === last ? `1.${first}` : `1.${first}-1.${last}`))
    .join(', ')
}
