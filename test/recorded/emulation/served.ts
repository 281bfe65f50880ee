/**
 * Reads what a server reports about itself: its version, its resources with their verbs and kinds,
 * and its feature gates.
 */
import { clients } from '../../integration/support.ts'

export type ServedApi = {
  readonly version: { readonly [field: string]: string }
  /**
   * Resources, as lines of the form `apps/v1 deployments Deployment get,list HASH`. HASH is the
   * storage version hash, which identifies the stored version.
   */
  readonly resources: readonly string[]
  /**
   * Feature gates and their values: the labels and the value of the metric
   * kubernetes_feature_enabled.
   */
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
  if (make === undefined) throw new Error('there is no HTTP/2 client')
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
