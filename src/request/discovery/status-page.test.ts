import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, TextError } from '../../api/errors.ts'
import { statusPage } from './status-page.ts'

const paths = ['/api/v1', '/apis', '/healthz/ping', '/readyz', '/healthz', '/.well-known/x']
const times = { release: 33, upSeconds: 3_725.8, nowMs: Date.UTC(2026, 0, 1, 12), paths }

const requestOf = (accept?: string) => ({
  headers: accept === undefined ? {} : { accept },
  query: new URLSearchParams(),
})

test('the page /statusz begins like that of kube-apiserver, and shows when the process started', () => {
  const { status, headers, body } = statusPage(requestOf('text/plain'), times)
  const lines = String(body).split('\n')
  assert.deepEqual([status, headers], [200, { 'content-type': 'text/plain; charset=utf-8' }])
  assert.deepEqual(lines.slice(0, 2), ['', 'kube-apiserver statusz'])
  assert.match(lines[2] ?? '', /^Warning: This endpoint is not meant to be machine parseable/)
  assert.deepEqual(lines.slice(4, 6), [
    'Started: Thu, 01 Jan 2026 10:57:55 GMT',
    'Up: 1 hr 02 min 05 sec',
  ])
  assert.equal(lines.at(-2), 'Emulation version: 1.33')
})

test('since 1.34, the page /statusz has another title, and lists paths that serve no APIs', () => {
  const { body } = statusPage(requestOf('text/plain'), { ...times, release: 34 })
  const lines = String(body).split('\n')
  assert.equal(lines[1], 'apiserver statusz')
  assert.equal(lines.at(-2), 'Paths:  /healthz /readyz')
})

test('the page /statusz is served only to clients that accept plain text', () => {
  for (const accept of [
    '*/*',
    '*',
    'text/*',
    'text/plain; charset=UTF-8',
    'application/json, text/plain;q=0.1',
  ])
    assert.equal(statusPage(requestOf(accept), times).status, 200, accept)
  for (const accept of [undefined, 'application/json', 'text/html', 'text/plain; foo=bar'])
    assert.throws(
      () => statusPage(requestOf(accept), times),
      (error) =>
        error instanceof TextError &&
        error.message === 'media type not acceptable, must be: text/plain\n',
    )
})

test('since 1.35, programs get the page /statusz as JSON', () => {
  const state = { ...times, release: 35 }
  const asked = 'application/json;as=Statusz;v=v1alpha1;g=config.k8s.io'
  const { headers, body } = statusPage(requestOf(`text/html, ${asked}`), state)
  assert.deepEqual(headers, { 'content-type': 'application/json' })
  const { goVersion: _, binaryVersion, ...others } = JSON.parse(String(body))
  assert.match(binaryVersion, /^1\.35\./)
  assert.deepEqual(others, {
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1alpha1',
    metadata: { name: 'apiserver' },
    startTime: '2026-01-01T10:57:55Z',
    uptimeSeconds: 3725,
    emulationVersion: '1.35',
    paths: ['/healthz', '/readyz'],
  })
  for (const accept of [undefined, '*/*', 'text/plain', `${asked};q=0.5, text/*`])
    assert.equal(
      statusPage(requestOf(accept), state).headers['content-type'],
      'text/plain; charset=utf-8',
      accept,
    )
  const refused = (accept: string, code: number): void =>
    assert.throws(
      () => statusPage(requestOf(accept), state),
      (error) => error instanceof ApiError && error.code === code,
      accept,
    )
  refused('application/json', 406)
  refused('application/json;as=Flagz;v=v1alpha1;g=config.k8s.io', 406)
  refused(asked.replace('json', 'yaml'), 500)
})
