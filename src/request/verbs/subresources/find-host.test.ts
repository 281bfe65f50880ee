import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFindHost } from './find-host.ts'

test('CVE-2020-8562: a host name is resolved only once, and all of its addresses are checked', async () => {
  const answers = [['10.0.0.1', '10.0.0.2'], ['127.0.0.1'], ['10.0.0.1', '::1'], []]
  const findHost = createFindHost(
    async () => answers.shift() ?? assert.fail('it is resolved again'),
  )
  assert.equal(await findHost('rebound.example.com'), '10.0.0.1')
  await assert.rejects(findHost('rebound.example.com'), { message: 'address not allowed' })
  await assert.rejects(findHost('rebound.example.com'), { message: 'address not allowed' })
  await assert.rejects(findHost('gone.example.com'), {
    message: 'lookup gone.example.com: no such host',
  })
  assert.deepEqual(answers, [])
})
