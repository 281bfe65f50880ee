/**
 * The page /statusz (feature gate ComponentStatusz), which shows when the process started, and the
 * versions of the server. The page itself states that programs should not parse it.
 */
import { plainPage, type PageRequest, type TextPage } from './plain-page.ts'
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

export function statusPage(request: PageRequest, state: ServerState): TextPage {
  const { release } = state
  const isGeneric = release >= GENERIC_SINCE
  const data = dataOf(state)
  const paths = pathsOf(state.paths)
  const shownPaths = isGeneric ? [`Paths: ${paths.map((path) => ` ${path}`).join('')}`] : []
  return plainPage(request, {
    component: isGeneric ? 'apiserver' : 'kube-apiserver',
    title: 'statusz',
    text: ['', ...linesOf(data), ...shownPaths].join('\n'),
    kind: 'Statusz',
    fields: { ...data, startTime: data.startTime.toISOString().replace(/\.\d+Z$/, 'Z'), paths },
    release,
  })
}

/** Paths that serve APIs. The page lists only the others. */
const apiPaths: ReadonlySet<string> = new Set(['api', 'apis', 'openid', 'openapi', '.well-known'])

/** Returns the first segments of paths. */
function pathsOf(paths: readonly string[]): string[] {
  const segments = new Set(paths.map((path) => path.split('/', 2)[1] ?? ''))
  return [...segments]
    .filter((segment) => !apiPaths.has(segment))
    .toSorted()
    .map((segment) => `/${segment}`)
}

const twoDigits = (value: number): string => `${value}`.padStart(2, '0')

function dataOf({ upSeconds, nowMs, release, emulatedMinor }: ServerState) {
  const uptimeSeconds = Math.floor(upSeconds)
  const { major, emulationMinor, gitVersion, goVersion } = versionDocument(release, emulatedMinor)
  return {
    startTime: new Date(nowMs - uptimeSeconds * 1_000),
    uptimeSeconds,
    goVersion,
    binaryVersion: gitVersion.slice(1),
    emulationVersion: `${major}.${emulationMinor}`,
  }
}

function linesOf(data: ReturnType<typeof dataOf>): string[] {
  const { startTime, uptimeSeconds: up, goVersion, binaryVersion, emulationVersion } = data
  return [
    `Started: ${startTime.toUTCString()}`,
    `Up: ${Math.floor(up / 3_600)} hr ${twoDigits(Math.floor(up / 60) % 60)} min ${twoDigits(up % 60)} sec`,
    `Go version: ${goVersion}`,
    `Binary version: ${binaryVersion}`,
    `Emulation version: ${emulationVersion}`,
  ]
}
