/** Writes down what the clusters of keelson/testing begin with, for the package. */
import { printFirstObjects, savedNow } from '../src/storage/first-objects.ts'
import { type Cluster, startCluster } from '../src/entry/testing/index.ts'

/** The content of the file. */
export async function createFirstObjects(): Promise<string> {
  await using cluster = await startCluster({ now: savedNow })
  await settled(cluster)
  return await printFirstObjects(cluster.snapshot().state, cluster.certificateAuthority)
}

type Role = { readonly rules?: readonly unknown[] | null }
type Condition = { readonly status: string }
type FlowSchemas = {
  readonly items: readonly { readonly status: { readonly conditions?: readonly Condition[] } }[]
}

/** Their rules are those of other roles: a controller brings them together. */
const aggregated = ['admin', 'edit', 'view'] as const

/** A cluster is of use before controllers have done all of this. */
export async function settled(cluster: Cluster): Promise<void> {
  const haveRules = async (): Promise<boolean> => {
    const answers = aggregated.map((name) =>
      cluster.request<Role>({ path: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}` }),
    )
    const found = (await Promise.all(answers)).map(({ body: { rules } }) =>
      (rules ?? []).map((rule) => JSON.stringify(rule)),
    )
    // Each has the rules of the next one, which come to it later than its own.
    return found.every(
      (rules, at) =>
        rules.length > 0 && found[at + 1]?.every((rule) => rules.includes(rule)) !== false,
    )
  }
  const areChecked = async (): Promise<boolean> => {
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
    const { body } = await cluster.request<FlowSchemas>({ path })
    // The one that they have is Dangling, which each is until its priority level has been seen.
    return body.items.every(({ status: { conditions = [] } }) => conditions[0]?.status === 'False')
  }
  await cluster.waitFor(haveRules, { what: 'the rules of aggregated roles' })
  await cluster.waitFor(areChecked, { what: 'the conditions of flow schemas' })
}
