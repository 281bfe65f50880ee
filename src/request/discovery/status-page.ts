/**
 * The page /statusz (feature gate ComponentStatusz), which shows when the process started, and the
 * versions of the server. The page itself states that programs should not parse it.
 */
import type { ApiRequest } from '../../api/request.ts'
import { plainPage, type TextPage } from './plain-page.ts'
import { versionDocument } from './version.ts'

export const statusPath = '/statusz'

/** Data of the page: the uptime of the process, the current time, versions and paths. */
type ServerState = {
  readonly upSeconds: number
  readonly nowMs: number
  /** Minor version of the Kubernetes release that the server implements. */
  readonly release: number
  /** The minor version of Kubernetes whose APIs are served, if it differs from `release`. */
  readonly emulatedMinor?: number | undefined
  /** The paths that the page `/` lists. */
  readonly paths: readonly string[]
}

/** The first release in which the generic API server installs the page, with the paths. */
const GENERIC_SINCE = 34

export function statusPage(request: Pick<ApiRequest, 'headers'>, state: ServerState): TextPage {
  const isGeneric = state.release >= GENERIC_SINCE
  const title = isGeneric ? 'apiserver statusz' : 'kube-apiserver statusz'
  const lines = linesOf(state)
  return plainPage(request, title, isGeneric ? [...lines, pathsLine(state.paths)] : lines)
}

/** Paths that serve APIs. The page lists only the others. */
const apiPaths: ReadonlySet<string> = new Set(['api', 'apis', 'openid', 'openapi', '.well-known'])

/** Lists the first segments of paths. */
function pathsLine(paths: readonly string[]): string {
  const segments = new Set(paths.map((path) => path.split('/', 2)[1] ?? ''))
  const shown = [...segments].filter((segment) => !apiPaths.has(segment)).toSorted()
  return `Paths: ${shown.map((segment) => ` /${segment}`).join('')}`
}

const twoDigits = (value: number): string => `${value}`.padStart(2, '0')

function linesOf({ upSeconds, nowMs, release, emulatedMinor }: ServerState): string[] {
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
