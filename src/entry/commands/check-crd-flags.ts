/** The flags of `keelson check-crd`. */
import type { CommandFlagTable } from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'

export const checkCrdFlags = {
  versions: {
    type: 'string',
    value: 'versions',
    shownDefault: 'all known versions',
    help: 'The Kubernetes versions to check, such as 1.31-1.33 or 1.31,1.33.',
  },
} as const satisfies CommandFlagTable

export const checkCrdHelp: CommandHelp = {
  usage: ['keelson check-crd [flags] FILE...'],
  description: `Checks whether Kubernetes versions accept the CustomResourceDefinitions in files or
folders, without starting a server. It validates their schemas and formats, compiles their CEL rules
and estimates the costs of the rules. Custom objects in the same files are also checked: they get
defaults, and are validated by the schemas and the rules.

It prints a table of what each version refuses, and the reasons. The exit status is 1 if a version
refuses an object, or if a file is not valid. If GITHUB_STEP_SUMMARY is set, the table is also added
to the summary of the GitHub Actions job.`,
  sections: [{ flags: checkCrdFlags }],
  notes: `Versions before 1.33 are those that --emulated-version of keelson serve emulates. As in a
server, the rules of a new definition can use only the CEL libraries of the version before.`,
}
