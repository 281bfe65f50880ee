/**
 * Reads and checks the changelog fragments, which are files in `changes/` that each describe one
 * change. Because each change has its own file, branches never edit the same lines, and a merge
 * cannot duplicate an entry.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const sections = ['Added', 'Changed', 'Fixed', 'Security'] as const
export type Section = (typeof sections)[number]

/** The components, in the order in which the changelog lists them. */
export const components = [
  'API',
  'Custom resources',
  'Access',
  'Admission',
  'Aggregation and networking',
  'Storage',
  'Flow control',
  'Controllers',
  'Observability',
  'Server',
  'Tools',
  'Documentation',
] as const
export type Component = (typeof components)[number]

export type Fragment = {
  /** Path relative to the root of the repository. */
  readonly path: string
  readonly section: Section
  readonly component: Component
  readonly text: string
}

export type ReadFragments = {
  readonly fragments: readonly Fragment[]
  /** Error messages for the author, one line per error. */
  readonly faults: readonly string[]
}

const SENTENCES_MAX = 2
const folder = 'changes'

/** Reads the fragments of a repository. `changelog` is the text of CHANGELOG.md. */
export function readFragments(root: string, changelog: string): ReadFragments {
  const released = new Set(entriesOf(changelog))
  const fragments: Fragment[] = []
  const faults: string[] = []
  const pathsByText = new Map<string, string>()
  const names = readdirSync(join(root, folder)).filter((name) => name !== 'README.md')
  for (const name of names.toSorted()) {
    const path = `${folder}/${name}`
    const read = name.endsWith('.md')
      ? parseFragment(path, readFileSync(join(root, path), 'utf8'))
      : 'is not a Markdown file'
    if (typeof read === 'string') {
      faults.push(`${path}: ${read}`)
      continue
    }
    fragments.push(read)
    faults.push(...textFaults(read.text).map((fault) => `${path}: ${fault}`))
    const other = released.has(read.text) ? 'CHANGELOG.md' : pathsByText.get(read.text)
    if (other !== undefined) faults.push(`${path}: repeats an entry of ${other}`)
    pathsByText.set(read.text, path)
  }
  return { fragments, faults }
}

/** Returns the fragment, or the reason why the file is not a valid fragment. */
function parseFragment(path: string, content: string): Fragment | string {
  const {
    kind = '',
    about = '',
    text = '',
  } = /^(?<kind>[^,:]*), (?<about>[^:]*): (?<text>.*)$/.exec(unwrapped(content))?.groups ?? {}
  if (text === '') return 'must say `SECTION, COMPONENT: TEXT`'
  const section = sections.find((one) => one === kind)
  if (section === undefined)
    return `the section ${JSON.stringify(kind)} is unknown: use ${sections.join(', ')}`
  const component = components.find((one) => one === about)
  if (component === undefined)
    return `the component ${JSON.stringify(about)} is unknown: use ${components.join(', ')}`
  return { path, section, component, text }
}

function textFaults(text: string): readonly string[] {
  const faults: string[] = []
  const sentences = text.replaceAll(/`[^`]*`/g, 'code').split(/[.!?](?=\s|$)/)
  const count = sentences.filter((sentence) => sentence.trim() !== '').length
  if (count > SENTENCES_MAX)
    faults.push(`has ${count} sentences; at most ${SENTENCES_MAX} are allowed`)
  if (!/\.\)?$/.test(text)) faults.push('must end with a period')
  if (/\]\(/.test(text))
    faults.push('must not have links, because it moves to another folder: name the page')
  return faults
}

/** Returns the entries of a changelog. Each entry is a single line. */
function entriesOf(changelog: string): readonly string[] {
  return changelog
    .split(/^(?=- |#|\S.*:$)/m)
    .filter((part) => part.startsWith('- '))
    .map((part) => unwrapped(part.slice(2)))
}

const unwrapped = (text: string): string => text.trim().replaceAll(/\s*\n\s*/g, ' ')
