import { appendFileSync } from 'node:fs'
import { releasesFor } from '../../api/releases.ts'
import { messageOf } from '../../lib/errors.ts'
import { missingValues, readCommandFlags } from '../../lib/process/command-flags.ts'
import type { Manifest } from '../apply/parse-manifests.ts'
import { readManifests } from '../apply/read-manifests.ts'
import { scan } from '../apply/scan.ts'
import { checkObjects, inCheckingOrder, isDefinition } from '../check-crd/check-objects.ts'
import {
  countRefused,
  printReport,
  printSummary,
  type Report,
  type VersionVerdicts,
} from '../check-crd/print-report.ts'
import { checkableMinors, gatesOfMinor, parseVersions } from '../check-crd/versions.ts'
import { checkCrdFlags } from './check-crd-flags.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function checkCrd(args: readonly string[], parts: CommandContext): Promise<void> {
  const releases = releasesFor(parts.env)
  const read = readArguments(args, releases)
  if ('faults' in read) return parts.fail(USAGE_FAULT, read.faults)
  const { steps, faults } = await readAll(read.paths)
  if (faults.length > 0) return parts.fail(FAILURE, faults)
  const checked = inCheckingOrder(steps)
  if (!checked.some(isDefinition)) {
    const reason = `${read.paths.join(', ')}: there is no CustomResourceDefinition`
    return parts.fail(FAILURE, [reason])
  }
  const versions: VersionVerdicts[] = []
  for (const minor of read.minors)
    versions.push({ minor, verdicts: await checkObjects(checked, gatesOfMinor(minor, releases)) })
  const report: Report = { versions, manifests: checked }
  parts.print(printReport(report))
  writeSummary(report, parts)
  if (countRefused(report) > 0) parts.exit(FAILURE)
}

type Arguments = { readonly minors: readonly number[]; readonly paths: readonly string[] }

function readArguments(
  args: readonly string[],
  releases: readonly number[],
): Arguments | { readonly faults: readonly string[] } {
  const flags = readCommandFlags(args, checkCrdFlags)
  const paths = flags.rest.filter((argument) => !argument.startsWith('-'))
  const unknown = flags.rest.filter((argument) => argument.startsWith('-'))
  const known = checkableMinors(releases)
  const versions = flags.values.get('versions')
  const chosen = versions === undefined ? { minors: known } : parseVersions(versions, known)
  const faults = [
    ...missingValues(flags),
    ...unknown.map((flag) => `unknown argument ${flag}: keelson check-crd --help lists the flags`),
    ...(paths.length === 0
      ? ['keelson check-crd needs a file or a folder: keelson check-crd FILE...']
      : []),
  ]
  if (faults.length > 0) return { faults }
  return 'faults' in chosen ? chosen : { minors: chosen.minors, paths }
}

type ReadFiles = {
  /** The manifests of each path. */
  readonly steps: readonly (readonly Manifest[])[]
  readonly faults: readonly string[]
}

async function readAll(paths: readonly string[]): Promise<ReadFiles> {
  const steps: (readonly Manifest[])[] = []
  const faults: string[] = []
  for (const path of paths) {
    try {
      const read = await readManifests(await scan(path))
      steps.push(read.manifests)
      faults.push(...read.faults)
    } catch (error) {
      faults.push(`${path} cannot be read: ${messageOf(error)}`)
    }
  }
  return { steps, faults }
}

/** Adds the report to the summary of a GitHub Actions job. */
function writeSummary(report: Report, { env, report: warn }: CommandContext): void {
  const file = env['GITHUB_STEP_SUMMARY'] ?? ''
  if (file === '') return
  try {
    appendFileSync(file, printSummary(report))
  } catch (error) {
    warn(`the summary for GitHub Actions cannot be written: ${messageOf(error)}\n`)
  }
}
