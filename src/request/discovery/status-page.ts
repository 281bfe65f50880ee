/**
 * The page /statusz (feature gate ComponentStatusz), which shows when the process started, and the
 * versions of the server. The page itself states that programs should not parse it.
 */
import type { ApiRequest } from '../../api/request.ts'
import { plainPage, type TextPage } from './plain-page.ts'
import { versionDocument } from './version.ts'

export const statusPath = '/statusz'

/** The uptime of the process, and the current time. */
type Times = {
  readonly upSeconds: number
  readonly nowMs: number
  /** Minor version of the Kubernetes release that the server implements. */
  readonly release: number
  /** The minor version of Kubernetes whose APIs are served, if it differs from `release`. */
  readonly emulatedMinor?: number | undefined
}

export const statusPage = (request: Pick<ApiRequest, 'headers'>, times: Times): TextPage =>
  plainPage(request, 'statusz', linesOf(times))

const twoDigits = (value: number): string => `${value}`.padStart(2, '0')

function linesOf({ upSeconds, nowMs, release, emulatedMinor }: Times): string[] {
  const up = Math.floor(upSeconds)
  const { major, emulationMinor, gitVersion, goVersion } = versionDocument(release, emulatedMinor)
  return [
    `Started: ${new Date(nowMs - up * 1_000).toUTCString()}`,
    `Up: ${Math.floor(up / 3_600)} hr ${twoDigits(Math.floor(up / 60) % 60)} min ${twoDigits(up % 60)} sec`,
    `Go version: ${goVersion}`,
    `Binary version: ${gitVersion.slice(1)}`,
    `Emulation version: ${major}.${emulationMinor}`,
  ]
}
