import { join, resolve } from 'node:path'
import { crc32 } from 'node:zlib'
import { defaultMinor, parseRelease, releasesFor } from '../../api/releases.ts'
import { serveHelp } from '../../config/serve-help.ts'
import { messageOf } from '../../lib/errors.ts'
import { assetsFlags, writeAssets } from '../envtest/assets.ts'
import { readCommandFlags } from '../../lib/process/command-flags.ts'
import { printHelp } from '../../lib/process/command-help.ts'
import { makeTemporaryFolder } from '../../lib/process/files.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function assets(args: readonly string[], parts: CommandContext): Promise<void> {
  const { values, rest } = readCommandFlags(args, assetsFlags)
  const given = values.get('dir')
  if (rest.length > 0 || given === '') {
    return parts.fail(USAGE_FAULT, [
      `keelson assets only takes --dir=FOLDER and --kubernetes=VERSION, not ${args.join(' ')}`,
    ])
  }
  const chosen = parseRelease(
    values.get('kubernetes') ?? `1.${defaultMinor}`,
    releasesFor(parts.env),
  )
  if ('fault' in chosen) return parts.fail(USAGE_FAULT, [`--kubernetes: ${chosen.fault}`])
  const { minor: release } = chosen
  const folder = given === undefined ? ownFolder(parts, release) : resolve(given)
  try {
    writeAssets({
      folder,
      program: parts.ownCommand,
      standIn: parts.standInCommand,
      version: parts.version,
      release,
      serveHelp: printHelp(serveHelp(release)),
      path: parts.env['PATH'] ?? '',
    })
    parts.print(`${folder}\n`)
  } catch (error) {
    parts.fail(FAILURE, [messageOf(error)])
  }
}

/**
 * Returns the default folder for the programs. It is in the cache folder of the user. Its path
 * depends on the release, and on the version and the command line of Keelson. If the user has no
 * cache folder, creates a temporary folder.
 */
function ownFolder({ cache, version, ownCommand }: CommandContext, release: number): string {
  if (cache === undefined) return makeTemporaryFolder('keelson-assets-')
  const name = `assets-${version}-${crc32(ownCommand.join(' ')).toString(16)}`
  return join(cache, release === defaultMinor ? name : `${name}-1.${release}`)
}
