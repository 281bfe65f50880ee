/** docs/reference/flags.md: the flags of `keelson serve`, and those of kube-apiserver that it does not have. */
import type { Flag } from '../../src/config/flag.ts'
import { flags } from '../../src/config/flags.ts'
import { unsupportedFlags } from '../../src/config/unsupported-flags.ts'
import { code, type Page, page, table } from './markdown.ts'

export function flagsPage(): Page {
  const sections = Map.groupBy(Object.entries(flags), ([, { section }]) => section)
  return page(
    'flags.md',
    'Flags',
    'Of `keelson serve`, which has the names and defaults of kube-apiserver. `keelson dev` takes them too, and has some of its own ([commands](commands.md)).',
    ...[...sections].map(([section, entries]) => `## ${section}\n\n${flagTable(entries)}`),
    '## Flags of kube-apiserver that have no effect yet',
    'They may be given with the value that is their default. Any other value is refused by name, so that nobody believes that it has an effect.',
    table(
      ['section', 'flag', 'the value that is taken'],
      Object.entries(unsupportedFlags).flatMap(([section, byName]) =>
        Object.entries(byName).map(([name, value]) => [
          section,
          code(`--${name}`),
          value === '' ? 'none' : code(value),
        ]),
      ),
    ),
  )
}

const flagTable = (entries: readonly (readonly [string, Flag])[]): string =>
  table(
    ['flag', 'type', 'default', 'what it does'],
    entries.map(([name, { type, default: byDefault, help }]) => [
      code(`--${name}`),
      type,
      byDefault === undefined || byDefault === '' ? '' : code(byDefault),
      help,
    ]),
  )
