import { test } from 'node:test'
import { CoreV1Api } from '@kubernetes/client-node'
import { startKeelson } from './keelson-container.ts'

/** Build this image as described in docs/operate.md. */
const image = 'localhost/keelson:0.1.0'

test('a shop has its namespace', async () => {
  await using keelson = await startKeelson(image)
  const core = keelson.kubeconfig.makeApiClient(CoreV1Api)
  await core.createNamespace({ body: { metadata: { name: 'shop' } } })
  await core.readNamespace({ name: 'shop' })
})
