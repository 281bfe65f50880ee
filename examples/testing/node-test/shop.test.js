/** An example for node:test: one cluster for all tests, and a fork for each test. */
import { after, test } from 'node:test'
import { startCluster } from 'keelson/testing'

const cluster = await startCluster()
after(() => cluster.stop())

const page = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'page', namespace: 'default' },
  data: { title: 'Shop' },
}

test('a page can be changed', async () => {
  await using fork = await cluster.fork()
  await fork.apply(page)
  await fork.apply({ ...page, data: { title: 'Closed' } })
  await fork.expect(page).toMatchObject({ data: { title: 'Closed' } })
})

test('the changes of a test are not visible in other tests', async () => {
  await using fork = await cluster.fork()
  await fork.expect(page).toBeDeleted()
})
