/** Tests patches on a whole server: many concurrent patches of one object, and hostile bodies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, serverOfFile } from './support.ts'

const call = serverOfFile()

const configMaps = '/api/v1/namespaces/default/configmaps'
const types = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

type Form = keyof typeof types

const patch = (name: string, form: Form, body: unknown): Promise<Answer> =>
  call({
    method: 'PATCH',
    path: `${configMaps}/${name}`,
    headers: { 'content-type': types[form] },
    body,
  })

async function create(
  name: string,
  data: object,
): Promise<{ metadata: { resourceVersion: string } }> {
  const made = await call({ method: 'POST', path: configMaps, body: { metadata: { name }, data } })
  assert.equal(made.status, 201, made.text)
  return JSON.parse(made.text)
}

const dataOf = async (name: string): Promise<Record<string, string>> =>
  JSON.parse((await call({ path: `${configMaps}/${name}` })).text).data

test('concurrent patches without a resourceVersion all succeed', async () => {
  await create('shared', {})
  const forms = ['merge', 'strategic'] as const
  const keys = Array.from({ length: 24 }, (_, at) => `key-${at}`)
  const answers = await Promise.all(
    keys.map((key, at) =>
      patch('shared', forms[at % forms.length] ?? 'merge', { data: { [key]: 'x' } }),
    ),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.deepEqual(Object.keys(await dataOf('shared')).toSorted(), keys.toSorted())
})

test('if concurrent patches test the value that they change, exactly one of them succeeds', async () => {
  const { metadata } = await create('contested', { turn: '0' })
  const tested = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      patch('contested', 'json', [
        { op: 'test', path: '/data/turn', value: '0' },
        { op: 'replace', path: '/data/turn', value: `by ${at}` },
      ]),
    ),
  )
  const won = tested.filter(({ status }) => status === 200)
  const lost = tested.filter(({ status }) => status === 422)
  assert.deepEqual([won.length, lost.length], [1, 19])
  const { resourceVersion } = metadata
  const stale = await patch('contested', 'merge', {
    metadata: { resourceVersion },
    data: { turn: 'stale' },
  })
  assert.equal(stale.status, 409)
})

test('hostile bodies are rejected, and other requests are served in the meantime', async () => {
  await create('target', { a: '1' })
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  const bodies: readonly (readonly [Form, string])[] = [
    ['json', `[{"op":"add","path":"/data/x","value":${deep}}]`],
    ['merge', deep],
    ['strategic', deep],
    [
      'json',
      JSON.stringify(
        Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' })),
      ),
    ],
    [
      'json',
      JSON.stringify(
        Array.from({ length: 500 }, () => ({ op: 'copy', from: '', path: '/data/x' })),
      ),
    ],
    ['json', JSON.stringify([{ op: 'add', path: '/data/x/4294967295', value: '1' }])],
    ['merge', 'x'.repeat(3_100_000)],
  ]
  for (const [form, body] of bodies) {
    const [refused, served] = await Promise.all([
      patch('target', form, Buffer.from(body)),
      call({ path: `${configMaps}/target` }),
    ])
    assert(
      refused.status >= 400 && refused.status < 500,
      `${form} ${body.slice(0, 60)}: ${refused.status}`,
    )
    assert.equal(served.status, 200)
  }
  assert.deepEqual(await dataOf('target'), { a: '1' })
})
