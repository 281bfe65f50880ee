/**
 * Records kube-apiserver's responses for the values in answers.json: `node
 * test/integration/stored/record.ts`.
 */
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startReference } from '../../support/harness/reference.ts'
import { type Answers, type Ask, askFor } from './ask.ts'
import { storedValues } from './values.ts'

await using etcdProcess = await startEtcd()
const server = await startReference({ etcdUrl: etcdProcess.clientUrl })
try {
  await using etcd = new EtcdClient({ endpoints: [etcdProcess.clientUrl] })
  const ask: Ask = ({ method, path, body }) =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${server.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/merge-patch+json' }),
      }
      const sent = request(
        `${server.url}${path}`,
        { method, headers, rejectUnauthorized: false },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer.on('data', (chunk: string) => (text += chunk))
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const answers: { [name: string]: { readonly json: Answers; readonly protobuf?: Answers } } = {}
  for (const value of storedValues) {
    const json = await askFor(value, 'json', { etcd, ask })
    const protobuf = await askFor(value, 'protobuf', { etcd, ask })
    if (json === undefined) continue
    const isSame = protobuf === undefined || isDeepStrictEqual(json, protobuf)
    if (!isSame) console.log(`${value.name}: protobuf is read differently from JSON`)
    answers[value.name] = { json, ...(isSame ? {} : { protobuf }) }
  }
  const lines = Object.entries(answers).map(
    ([name, answer]) => `${JSON.stringify(name)}: ${JSON.stringify(answer)}`,
  )
  writeFileSync(new URL('answers.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
} finally {
  await server.stop()
}
