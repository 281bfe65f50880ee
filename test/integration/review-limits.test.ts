/** Tests access reviews with more groups and extras than any real user has. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'

type Review = { readonly status?: { readonly allowed?: boolean }; readonly message?: string }

suite('an access review can contain a limited number of groups and extras', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster()
  })
  after(() => cluster.stop())

  const review = (spec: object) =>
    cluster.request<Review>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'LocalSubjectAccessReview',
        metadata: { namespace: 'default' },
        spec: {
          user: 'u',
          ...spec,
          resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' },
        },
      },
    })

  test('a review succeeds with the maximum number of groups', async () => {
    const groups = Array.from({ length: 10_000 }, (_, at) =>
      at === 9_999 ? 'system:masters' : `g${at}`,
    )
    const { status, body } = await review({ groups })
    assert.equal(status, 201)
    assert.equal(body.status?.allowed, true)
  })

  test('a review is rejected with too many groups, and the error names the limit', async () => {
    const { status, body } = await review({ groups: Array.from({ length: 10_001 }, () => 'g') })
    assert.equal(status, 422)
    assert.match(body.message ?? '', /spec\.groups: Too many: 10001: must have at most 10000 items/)
  })

  test('a review is rejected with too many extra keys or extra values', async () => {
    const keys = Object.fromEntries(Array.from({ length: 5_001 }, (_, at) => [`k${at}`, ['v']]))
    const values = { k: Array.from({ length: 10_000 }, () => 'v') }
    for (const [extra, count] of [
      [keys, 10_002],
      [values, 10_001],
    ] as const) {
      const { status, body } = await review({ extra })
      assert.equal(status, 422)
      assert.match(
        body.message ?? '',
        new RegExp(`spec\\.extra: Too many: ${count}: must have at most 10000 items`),
      )
    }
  })
})
