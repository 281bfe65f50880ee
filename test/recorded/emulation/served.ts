/**
 * What a server says about itself: its version, its resources with what each can do, and its gates.
 */
import { clients } from '../../integration/support.ts'

export type ServedApi = {
  readonly version: { readonly [field: string]: string }
  /** `apps/v1 deployments`: verbs and kind. */
  readonly resources: readonly string[]
  /** The storage version's hash tells which version is stored. */
  readonly gates: readonly string[]
}

const fields = [
  'major',
  'minor',
  'emulationMajor',
  'emulationMinor',
  'minCompatibilityMajor',
  'minCompatibilityMinor',
]

export async function servedOf(url: string): Promise<ServedApi> {
  const make = clients['HTTP/2']
  if (make === undefined) throw new Error('there is a client')
  await using client = make(url)
  const read = async (path: string): Promise<string> => (await client.call({ path })).text
  const version: Record<string, string> = JSON.parse(await read('/version'))
  const resources: string[] = []
  const groups: { groups: { versions: { groupVersion: string }[] }[] } = JSON.parse(
    await read('/apis'),
  )
  const versions = groups.groups.flatMap((group) =>
    group.versions.map(({ groupVersion }) => groupVersion),
  )
  for (const [path, groupVersion] of [
    ['/api/v1', 'v1'],
    ...versions.map((one) => [`/apis/${one}`, one]),
  ]) {
    const list: {
      resources: { name: string; kind: string; verbs: string[]; storageVersionHash?: string }[]
    } = JSON.parse(await read(path ?? ''))
    for (const { name, kind, verbs, storageVersionHash = '' } of list.resources) {
      resources.push(
        `${groupVersion} ${name} ${kind} ${verbs.join(',')} ${storageVersionHash}`.trimEnd(),
      )
    }
  }
  const metrics = await read('/metrics')
  const gates = metrics.split('\n').filter((line) => line.startsWith('kubernetes_feature_enabled{'))
  return {
    version: Object.fromEntries(fields.map((field) => [field, version[field] ?? ''])),
    resources,
    gates: gates.map((line) => line.slice('kubernetes_feature_enabled'.length)),
  }
}
