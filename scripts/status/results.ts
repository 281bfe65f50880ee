/** Reads bench/results/ and checks the claims. */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptRun } from '../../bench/report/figure.ts'
import type { LanguageVerdicts } from '../../test/support/language-sample.ts'

/** A result of a test suite or a measurement, as stored in bench/results/claims.json. */
export type Claim = {
  readonly area: string
  readonly claim: string
  /** Short text for docs/status.md. Absent if the claim is only on measurements.md. */
  readonly summary?: string
  readonly value: string
  readonly target?: string
  /** Whether the value meets the target. Absent if there is no target. */
  readonly isMet?: boolean
  readonly command: string
  readonly date: string
  readonly commit?: string
  /** The reason why a value misses its target, or a remark about the run. */
  readonly note?: string
  /** The reason for a missed target in one short line, if the note is longer. */
  readonly cause?: string
}

export type MissedClaim = Claim & Required<Pick<Claim, 'summary' | 'target' | 'note'>>

export type Results = {
  readonly claims: readonly Claim[]
  /** The stored runs, in the order of their file names. */
  readonly runs: readonly KeptRun[]
  readonly language: readonly LanguageVerdicts[]
}

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'bench', 'results')
const CLAIMS = 'claims.json'
const languageFile = /^language-.*\.json$/
/** The value of `command` in a claim that was measured by hand, without a program. */
export const BY_HAND = 'measured by hand'

export function readResults(): Results {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== CLAIMS)
    .toSorted()
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  return {
    claims: read(CLAIMS),
    runs: names.filter((name) => !languageFile.test(name)).map((name): KeptRun => read(name)),
    language: names
      .filter((name) => languageFile.test(name))
      .map((name): LanguageVerdicts => read(name)),
  }
}

/** Maximum number of words of docs/status.md, which is one page. The count is that of `wc -w`. */
const WORDS_MAX = 2500

export function faultsOfStatus(page: string): readonly string[] {
  const words = page.split(/\s+/).filter((word) => word !== '').length
  return words > WORDS_MAX
    ? [`docs/status.md has ${words} words, at most ${WORDS_MAX} are allowed: remove summaries`]
    : []
}

export function faultsOfClaims(claims: readonly Claim[]): readonly string[] {
  return claims.flatMap((claim) => [
    ...(claim.isMet === false && !isMissed(claim)
      ? [`"${claim.claim}" misses its target: add a target, a summary and a note with the cause`]
      : []),
    ...faultsOfCommand(claim.command).map((fault) => `"${claim.claim}": ${fault}`),
  ])
}

export function isMissed(claim: Claim): claim is MissedClaim {
  return (
    claim.isMet === false &&
    claim.summary !== undefined &&
    claim.target !== undefined &&
    claim.note !== undefined
  )
}

/**
 * Returns an error for each file or script that a command names and the repository does not
 * contain.
 */
export function faultsOfCommand(command: string): readonly string[] {
  if (command === BY_HAND) return []
  const files = [...command.matchAll(/(?:\.\/)?[\w./*-]+\.(?:ts|js|mjs)\b|\.ci\/run\b/g)]
  const scripts = [...command.matchAll(/\bnpm run ([\w:-]+)/g)]
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  return [
    ...(files.length + scripts.length === 0 ? [`${command} names no file and no script`] : []),
    ...files
      .filter(([file]) => globSync(file, { cwd: root }).length === 0)
      .map(([file]) => `${file} does not exist`),
    ...scripts
      .filter(([, name = '']) => !Object.hasOwn(manifest.scripts, name))
      .map(([, name = '']) => `package.json has no script ${name}`),
  ]
}
