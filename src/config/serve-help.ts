/** Describes `keelson serve` and its flags for the help text, the manual page and completions. */
import { defaultMinor } from '../api/releases.ts'
import type { CommandFlag } from '../lib/process/command-flags.ts'
import type { CommandHelp, FlagSection } from '../lib/process/command-help.ts'
import { gateChoices, gateHelp } from './feature-gates.ts'
import type { Flag } from './flag.ts'
import { becomesOf, flagsOf } from './flags.ts'

/**
 * Describes the command `serve`. `release` is the minor version of Kubernetes that the server
 * implements.
 */
export const serveHelp = (release = defaultMinor): CommandHelp => ({
  usage: [
    'keelson serve --etcd-servers=URL [flags]',
    'keelson serve --data-dir=FOLDER [flags]',
    'keelson serve --store=memory [flags]',
    'keelson serve --testing [flags]',
  ],
  description: `Serves the Kubernetes API, with objects in etcd or in a store of its own. The flags
are those of kube-apiserver, and a few more. Flags that are not listed are rejected.`,
  sections: serveSections(release),
  notes: `Supported feature gates, with their stage and default. Setting a gate of stage GA or
DEPRECATED logs a warning. All other gates of kube-apiserver that are not locked are accepted and
have no effect, except a few that cannot be enabled.

${gateHelp(release)
  .map((line) => `  ${line}`)
  .join('\n')}`,
})

function serveSections(release: number): FlagSection[] {
  const sections = Map.groupBy(flagsOf(release), ([, { section }]) => section)
  return [...sections].map(([title, entries]) => ({
    title,
    flags: Object.fromEntries(
      entries.map(([name, flag]) => [name, toCommandFlag(name, flag, release)]),
    ),
  }))
}

function toCommandFlag(name: string, flag: Flag, release: number): CommandFlag {
  const { type, default: shownDefault } = flag
  const choices = name === 'feature-gates' ? gateChoices(release) : flag.choices
  return {
    type: type === 'boolean' ? 'boolean' : 'string',
    ...(name === 'v' && { short: 'v' }),
    // The flag --service-account-key-file has the type `list`, but each of its values is a file.
    value: name === 'service-account-key-file' ? 'file' : type,
    ...(choices !== undefined && { choices }),
    isList: type === 'list' || type === 'map',
    ...(shownDefault !== undefined && { shownDefault }),
    help: `${flag.help}${becomesOf(flag)}`,
  }
}
