import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/errors.ts'
import { bodyForm } from './body-form.ts'
import { negotiate, negotiateError, negotiateStream } from './negotiate.ts'

const asked = (accept: string, query = '', agent = '') => ({
  headers: { ...(accept === '' ? {} : { accept }), 'user-agent': agent },
  query: new URLSearchParams(query),
})

function outcomeOf(run: () => { type: string; isIndented: boolean } | undefined | void): string {
  try {
    const form = run()
    return form ? `${form.type}${form.isIndented ? ' indented' : ''}` : 'fine'
  } catch (error) {
    if (error instanceof ApiError)
      return `${error.code} ${error.details === undefined ? 'parameters' : 'route'}`
    throw error
  }
}

const cases: readonly [string, string][] = [
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/yaml, application/json', 'yaml'],
  ['application/yaml;q=0.5, application/json', 'json'],
  ['application/json;q=0.1,application/yaml;q=x', 'json'],
  ['*/*, application/yaml;q=0.1', 'yaml'],
  ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'json'],
  ['application/vnd.kubernetes.protobuf,application/json', 'protobuf'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
  ['application/json;stream=watch', 'json'],
  ['application/json;stream=x', '406 parameters'],
  ['application/json;pretty=1', 'json indented'],
  [`application/json${';a=b'.repeat(98)};pretty=1`, 'json indented'],
  [`application/json${';a=b'.repeat(99)};pretty=1`, 'json'],
  ['text/html', '406 route'],
  ['application/*', '406 route'],
  ['APPLICATION/JSON', '406 route'],
  [',', '406 route'],
]
for (const [accept, wanted] of cases) {
  test(`Accept: ${accept} results in ${wanted}`, () =>
    assert.equal(
      outcomeOf(() => negotiate(asked(accept))),
      wanted,
    ))
}

test('curl receives indented JSON, and a query parameter turns the indentation on or off', () => {
  assert.equal(
    outcomeOf(() => negotiate(asked('', '', 'curl/8'))),
    'json indented',
  )
  assert.equal(
    outcomeOf(() => negotiate(asked('', 'pretty=0', 'curl/8'))),
    'json',
  )
  assert.equal(
    outcomeOf(() => negotiate(asked('', 'pretty', 'curl/8'))),
    'json indented',
  )
  assert.equal(
    outcomeOf(() => negotiate(asked('', 'pretty=True'))),
    'json indented',
  )
  assert.equal(
    outcomeOf(() => negotiate(asked('', 'pretty=yes'))),
    'json',
  )
})

test('a conversion that a client requests, such as to a Table, is used only if the server offers it', () => {
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  assert.deepEqual(negotiate(asked(table)).as, { kind: 'Table', version: 'v1' })
  assert.equal(
    outcomeOf(() => negotiate(asked(table), { hasTable: false })),
    '406 parameters',
  )
  assert.equal(
    negotiate(asked(`${table.replace('json', 'vnd.kubernetes.protobuf')},application/yaml`)).type,
    'yaml',
  )
  const unknown = asked('application/json;as=Chair;v=v1;g=meta.k8s.io')
  assert.equal(
    outcomeOf(() => negotiate(unknown)),
    '406 parameters',
  )
})

test('YAML cannot be used for the response to a watch', () => {
  assert.equal(
    outcomeOf(() => negotiateStream(asked('application/yaml,application/json'))),
    '406 parameters',
  )
  assert.equal(
    outcomeOf(() => negotiateStream(asked('application/json,application/yaml'))),
    'json',
  )
})

test('an error is sent in one of the supported encodings, whatever the client accepts', () => {
  assert.equal(
    outcomeOf(() => negotiateError(asked('text/html'))),
    'json indented',
  )
  assert.equal(
    outcomeOf(() =>
      negotiateError(asked('application/json;as=Table;v=v1;g=meta.k8s.io,application/yaml')),
    ),
    'yaml',
  )
})

const form = (type: string): string => {
  try {
    return bodyForm({ headers: { 'content-type': type } })
  } catch (error) {
    return error instanceof ApiError ? String(error.code) : 'broken'
  }
}

test('the Content-Type determines the encoding of a body', () => {
  assert.equal(bodyForm({ headers: {} }), 'json')
  assert.equal(form('Application/JSON; charset=utf-8'), 'json')
  assert.equal(form('application/yaml'), 'yaml')
  assert.equal(form('application/json; charset'), '415')
  assert.equal(form('application/json, application/yaml'), '415')
  assert.equal(form('text/plain'), '415')
})

const cbor = (accept: string) => ({ ...asked(accept), takesCbor: true })

test('CBOR is accepted only if its feature gate is on', () => {
  assert.equal(
    outcomeOf(() => negotiate(asked('application/cbor'))),
    '406 route',
  )
  assert.equal(
    outcomeOf(() => negotiate(cbor('application/cbor'))),
    'cbor',
  )
  assert.equal(
    outcomeOf(() => negotiate(cbor('application/cbor-seq'))),
    '406 route',
  )
  assert.equal(
    outcomeOf(() => negotiateStream(cbor('application/cbor-seq'))),
    '406 parameters',
  )
  assert.equal(
    outcomeOf(() => negotiateStream(cbor('application/cbor;stream=watch'))),
    'cbor',
  )
  assert.equal(
    outcomeOf(() => negotiate(cbor('application/cbor;as=Table;v=v1;g=meta.k8s.io'))),
    '406 parameters',
  )
  assert.equal(
    outcomeOf(() =>
      negotiateError(cbor('application/cbor;as=Table;v=v1;g=meta.k8s.io,application/cbor')),
    ),
    'cbor',
  )
  assert.equal(
    bodyForm({ headers: { 'content-type': 'application/cbor' }, takesCbor: true }),
    'cbor',
  )
})
