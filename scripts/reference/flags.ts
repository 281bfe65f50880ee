/**
 * docs/reference/flags.md: the flags of `keelson serve`, and what becomes of each flag of
 * kube-apiserver.
 */
import type { Flag } from '../../src/config/flag.ts'
import { becomesOf, flags, ownFlagNames } from '../../src/config/flags.ts'
import { code, type Page, page, table } from './markdown.ts'

export function flagsPage(): Page {
  const sections = Map.groupBy(Object.entries(flags), ([, { section }]) => section)
  return page(
    'flags.md',
    'Flags',
    'Of `keelson serve`, which has the names and defaults of kube-apiserver. `keelson dev` takes them too, and has some of its own ([commands](commands.md)).',
    ...[...sections].map(([section, entries]) => `## ${section}\n\n${flagTable(entries)}`),
    '## Every flag of kube-apiserver',
    'Each works, or has no effect for the reason that is said, or is refused by name with the reason: nobody is to believe that a flag does what it does not. One that is refused may be given with its default.',
    table(['flag', 'what becomes of it'], upstreamRows()),
  )
}

const flagTable = (entries: readonly (readonly [string, Flag])[]): string =>
  table(
    ['flag', 'type', 'default', 'what it does'],
    entries.map(([name, flag]) => [
      code(`--${name}`),
      flag.type,
      flag.default === undefined || flag.default === '' ? '' : code(flag.default),
      `${flag.help}${becomesOf(flag)}`,
    ]),
  )

function upstreamRows(): string[][] {
  const known = Object.entries<Flag>(flags)
    .filter(([name]) => !ownFlagNames.has(name))
    .map(([name, { unused, refused }]) => {
      if (refused !== undefined) return [name, `refused: ${refused}`] as const
      return [name, unused === undefined ? 'works' : `no effect: ${unused}`] as const
    })
  const printed = ['help', 'version'].map((name) => [name, 'works'] as const)
  return [...known, ...printed]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, becomes]) => [code(`--${name}`), becomes])
}
