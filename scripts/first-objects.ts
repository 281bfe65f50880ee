/**
 * Creates the file with the objects that every cluster of keelson/testing starts with. The package
 * contains it, so that clusters start faster.
 */
import { printFirstObjects, savedNow } from '../src/storage/first-objects.ts'
import { type Cluster, startCluster } from '../src/entry/testing/index.ts'

/** Starts a cluster and returns its objects in the format of the file. */
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

/** Names of aggregated roles. A controller copies the rules of other roles into them. */
const aggregated = ['admin', 'edit', 'view'] as const

/**
 * Waits until controllers have completed the objects. A cluster reports that it is ready before its
 * objects are complete.
 */
export async function settled(cluster: Cluster): Promise<void> {
  const haveRules = async (): Promise<boolean> => {
    const answers = aggregated.map((name) =>
      cluster.request<Role>({ path: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}` }),
    )
    const found = (await Promise.all(answers)).map(({ body: { rules } }) =>
      (rules ?? []).map((rule) => JSON.stringify(rule)),
    )
    // Checks that the rules of each role include those of the next role in the list. A controller
    // appends them.
    return found.every(
      (rules, at) =>
        rules.length > 0 && found[at + 1]?.every((rule) => rules.includes(rule)) !== false,
    )
  }
  const areChecked = async (): Promise<boolean> => {
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
    const { body } = await cluster.request<FlowSchemas>({ path })
    // A FlowSchema has only the Dangling condition, which is True until the controller has read the
    // priority level.
    return body.items.every(({ status: { conditions = [] } }) => conditions[0]?.status === 'False')
  }
  await cluster.waitFor(haveRules, { what: 'the rules of aggregated roles' })
  await cluster.waitFor(areChecked, { what: 'the conditions of flow schemas' })
}
