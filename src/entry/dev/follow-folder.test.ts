import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseJson } from '../../api/json-value.ts'
import { fieldsOf } from '../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { systemUser } from '../../api/user.ts'
import { until } from '../../../test/support/harness/until.ts'
import { type FollowOptions, FollowedFolder } from './follow-folder.ts'

const root = '/api/v1/namespaces/default/configmaps/'

/** A server that has only the kind ConfigMap, and stores the applied objects. */
class FakeServer {
  readonly stored = new Map<string, unknown>()
  /** The names of the objects that were applied. */
  readonly applied: string[] = []
  #writes = 0

  readonly handle = async ({ method, path, body }: ApiRequest): Promise<ApiResponse> => {
    if (path === '/api/v1') {
      const resources = [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }]
      return respond(200, { resources })
    }
    if (!path.startsWith(root)) return respond(200, { items: [], metadata: {} })
    const name = path.slice(root.length)
    const known = this.stored.get(name)
    if (method === 'GET') return known === undefined ? respond(404, {}) : respond(200, known)
    const sent = fieldsOf(parseJson(await body()))
    const metadata = { ...fieldsOf(sent['metadata']), resourceVersion: `${++this.#writes}` }
    const object = { ...sent, metadata }
    this.stored.set(name, object)
    if (!name.startsWith('keelson-apply-')) this.applied.push(name)
    return respond(known === undefined ? 201 : 200, object)
  }
}

const respond = (status: number, body: unknown): ApiResponse => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})

const configMap = (name: string, value: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } })

/**
 * Follows a temporary folder with these files. Passes `run` a function `next` that waits for the
 * next summary of changes.
 */
async function follow(
  files: Readonly<Record<string, string>>,
  run: (options: {
    readonly folder: string
    readonly server: FakeServer
    readonly next: () => Promise<readonly string[]>
  }) => Promise<void>,
  watchFolder?: FollowOptions['watchFolder'],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-follow-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const server = new FakeServer()
  const lines: string[] = []
  const next = async (): Promise<readonly string[]> => {
    const end = (): number => lines.findIndex((line) => line.startsWith('applied '))
    await until(() => end() !== -1, `a summary after ${lines.join('\n')}`)
    return lines.splice(0, end() + 1)
  }
  try {
    await using followed = new FollowedFolder({
      path: folder,
      handle: server.handle,
      user: systemUser,
      version: '1.2.3',
      report: (line) => void lines.push(line),
      ...(watchFolder === undefined ? {} : { watchFolder }),
    })
    assert.ok(followed)
    await run({ folder, server, next })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('changes are found even if the file system does not report them', () =>
  follow(
    { 'a.json': configMap('a', 'one') },
    async ({ folder, next }) => {
      assert.equal((await next())[0], 'configmap/a created')
      writeFileSync(join(folder, 'b.json'), configMap('b', 'one'))
      assert.equal((await next())[0], 'configmap/b created')
    },
    () => {
      throw new Error('no watchers are left')
    },
  ))

test('only manifests that have changed are applied again', () =>
  follow(
    { 'a.json': configMap('a', 'one'), 'b.json': configMap('b', 'one') },
    async ({ folder, server, next }) => {
      await next()
      writeFileSync(join(folder, 'b.json'), configMap('b', 'two'))
      await next()
      assert.deepEqual(server.applied, ['a', 'b', 'b'])
    },
  ))

/**
 * Calls `run` while a script replaces the program kustomize. Changes PATH, so tests that use this
 * function must not run concurrently.
 */
async function withKustomize(
  script: string,
  run: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-kustomize-'))
  const path = process.env['PATH']
  try {
    writeFileSync(join(folder, 'kustomize'), `#!/bin/sh\ncd ${folder}\n${script}\n`, {
      mode: 0o755,
    })
    process.env['PATH'] = `${folder}:${path}`
    await run(folder)
  } finally {
    process.env['PATH'] = path
    rmSync(folder, { recursive: true })
  }
}

test('changes in a base of a kustomization are applied', () =>
  withKustomize('cat a.json', async (base) => {
    writeFileSync(join(base, 'kustomization.yaml'), 'resources: [a.json]\n')
    writeFileSync(join(base, 'a.json'), configMap('a', 'one'))
    await follow({ 'kustomization.yaml': `resources: [${base}]\n` }, async ({ next }) => {
      assert.equal((await next())[0], 'configmap/a created')
      writeFileSync(join(base, 'a.json'), configMap('a', 'two'))
      assert.equal((await next())[0], 'configmap/a configured')
    })
  }))

test('keelson dev stops following a folder without waiting for kustomize to finish', () =>
  withKustomize('touch started; exec sleep 600', async (folder) => {
    const startMs = performance.now()
    await follow({ 'kustomization.yaml': '' }, () =>
      until(() => existsSync(join(folder, 'started')), 'kustomize has started'),
    )
    // If the script were not ended by a signal, it would run for two minutes.
    assert.ok(performance.now() - startMs < 100_000)
  }))

test('an empty manifest file is an error, because an editor may be writing it', () =>
  follow({ 'a.json': configMap('a', 'one') }, async ({ folder, next }) => {
    await next()
    writeFileSync(join(folder, 'a.json'), '')
    assert.match((await next()).join('\n'), /^error: \S+a\.json is empty: [^]*: 1 error$/)
  }))
