/** `keelson version`: prints the versions of Keelson, Kubernetes and Node, and the commit. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  type CommandFlagTable,
  outputFlag,
  readCommandFlags,
} from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'
import { defaultMinor, gitVersionOf } from '../../api/releases.ts'
import { type CommandContext, USAGE_FAULT } from './command-context.ts'

/** Returns the output of `--version`. */
export const versionLine = (own: string): string =>
  `Keelson ${own}, for Kubernetes ${gitVersionOf(defaultMinor)}\n`

/** The commit of a built package, which scripts/build.ts defines. */
declare const BUILD_COMMIT: string

const UNKNOWN = 'unknown'

const versionFlags = { output: outputFlag } as const satisfies CommandFlagTable

export const versionHelp: CommandHelp = {
  usage: ['keelson version [flags]'],
  description: `Shows the versions of Keelson, of the Kubernetes API that it serves and of Node, and
the commit from which Keelson was built.`,
  sections: [{ flags: versionFlags }],
}

export async function version(args: readonly string[], parts: CommandContext): Promise<void> {
  const { values, rest } = readCommandFlags(args, versionFlags)
  const output = values.get('output')
  if (rest.length > 0 || (output !== undefined && output !== 'json')) {
    return parts.fail(USAGE_FAULT, [
      `keelson version only takes --output=json, not ${args.join(' ')}`,
    ])
  }
  const versions = {
    keelson: parts.version,
    kubernetes: gitVersionOf(defaultMinor),
    node: process.version,
    commit: typeof BUILD_COMMIT === 'undefined' ? commitOf(parts) : BUILD_COMMIT,
  }
  parts.print(output === 'json' ? `${JSON.stringify(versions)}\n` : printVersions(versions))
}

const printVersions = ({ keelson, kubernetes, node, commit }: Record<string, string>): string =>
  `Keelson     ${keelson}\nKubernetes  ${kubernetes}\nNode        ${node}\nCommit      ${commit}\n`

/** Returns the commit of a checkout. */
function commitOf({ fileOf }: CommandContext): string {
  // If this is not a checkout, do not call git, which would search the folders above for a
  // repository.
  if (!existsSync(fileOf('../.git'))) return UNKNOWN
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: fileOf('..'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    // There is no git on the PATH, or it does not trust the owner of the folder.
    return UNKNOWN
  }
}
