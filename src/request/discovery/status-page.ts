/**
 * /statusz, behind its gate: since when the process runs, and as what. Upstream says that nobody
 * should parse it.
 */
import type { ApiRequest } from '../../api/request.ts'
import { plainPage, type TextPage } from './plain-page.ts'
import { kubernetesVersion, versionDocument } from './version.ts'

export const statusPath = '/statusz'

/** How long the process has been running, and what time it is. */
type Times = {
  readonly upSeconds: number
  readonly nowMs: number
  /** Undefined: that which is implemented. */
  readonly emulatedMinor?: number | undefined
}

export const statusPage = (request: Pick<ApiRequest, 'headers'>, times: Times): TextPage =>
  plainPage(request, 'statusz', linesOf(times))

const twoDigits = (value: number): string => `${value}`.padStart(2, '0')

function linesOf({ upSeconds, nowMs, emulatedMinor }: Times): string[] {
  const up = Math.floor(upSeconds)
  const { major, minor, gitVersion } = kubernetesVersion
  return [
    `Started: ${new Date(nowMs - up * 1_000).toUTCString()}`,
    `Up: ${Math.floor(up / 3_600)} hr ${twoDigits(Math.floor(up / 60) % 60)} min ${twoDigits(up % 60)} sec`,
    `Go version: ${versionDocument().goVersion}`,
    `Binary version: ${gitVersion.slice(1)}`,
    `Emulation version: ${major}.${emulatedMinor ?? minor}`,
  ]
}
