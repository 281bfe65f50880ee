/** Tests `cluster.apply` of `keelson/testing`. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'
import { toolPath } from '../support/harness/etcd.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-apply-'))
let cluster: Cluster

before(async () => {
  cluster = await startCluster()
})
after(async () => {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
})

const shop = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: bot
      containers: [{name: web, image: web}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: bot, namespace: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: a}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: without-namespace}
data: {big: "12345678901234567890"}
`

const definition = (plural: string, fields: readonly string[]): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    names: { plural, kind: plural.slice(0, -1), singular: plural.slice(0, -1) },
    scope: 'Namespaced',
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: Object.fromEntries(
            fields.map((field) => [field, { type: 'integer', format: 'int64' }]),
          ),
        },
      },
    })),
  },
})

const resource = (kind: string, fields: object): object => ({
  apiVersion: 'example.com/v2',
  kind,
  metadata: { name: 'a' },
  ...fields,
})

test('objects are applied in the order of their dependencies, and returned in the order given', async () => {
  await using fork = await cluster.fork()
  const applied = await fork.apply(shop)
  assert.deepEqual(
    applied.map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace ?? ''}/${name}`),
    [
      'Deployment shop/web',
      'ServiceAccount shop/bot',
      'Namespace /shop',
      'ConfigMap default/without-namespace',
    ],
  )
  const writes = fork.history({ source: 'test' }).map(({ object }) => object?.kind)
  assert.equal(writes.length, 4)
  assert.deepEqual(writes.slice(0, 2), ['Namespace', 'ServiceAccount'])
  const again = await fork.apply(shop)
  assert.deepEqual(
    again.map(({ metadata }) => metadata['resourceVersion']),
    applied.map(({ metadata }) => metadata['resourceVersion']),
  )
})

test('a CustomResourceDefinition and its resources are applied together', async () => {
  await using fork = await cluster.fork()
  // The integer needs more than 53 bits. It would change if it were converted to a floating-point
  // number.
  const text = `{"apiVersion":"example.com/v2","kind":"widget","metadata":{"name":"a"},"size":9007199254740993}`
  mkdirSync(join(folder, 'widgets', 'crds'), { recursive: true })
  writeFileSync(join(folder, 'widgets', 'a.json'), text)
  writeFileSync(
    join(folder, 'widgets', 'crds', 'widgets.json'),
    JSON.stringify(definition('widgets', ['size'])),
  )
  const [widget] = await fork.apply(join(folder, 'widgets'))
  assert.equal(String(widget?.['size']), '9007199254740993')
})

test('a folder is applied in one pass, whatever the order of its files', async () => {
  await using fork = await cluster.fork()
  const files = {
    '1-widget.yaml': `# The namespace and the CustomResourceDefinition are in later files.
apiVersion: example.com/v1
kind: widget
metadata: {name: one, namespace: store}
size: 1
---
apiVersion: example.com/v2
kind: widget
metadata: {name: two, namespace: store}
`,
    '2-list.yml': `apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: store}
  spec:
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: web}]}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: store}}
`,
    'deeper/3-list.json': JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'store' } }],
    }),
    'deeper/definition.json': JSON.stringify(definition('widgets', ['size'])),
    'z-namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: store}\n',
  }
  mkdirSync(join(folder, 'store', 'deeper'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'store', name), text)
  const applied = await fork.apply(join(folder, 'store'))
  assert.deepEqual(
    applied.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [
      'widget one',
      'widget two',
      'Deployment web',
      'ConfigMap settings',
      'ConfigMap b',
      'CustomResourceDefinition widgets.example.com',
      'Namespace store',
    ],
  )
})

test('an object can use a field that the same apply adds to its CustomResourceDefinition', async () => {
  await using fork = await cluster.fork()
  await fork.apply([definition('gadgets', ['one']), resource('gadget', { one: 1 })])
  const [, gadget] = await fork.apply([
    definition('gadgets', ['one', 'two']),
    resource('gadget', { two: 2 }),
  ])
  assert.equal(gadget?.['two'], 2)
  assert.equal(gadget['one'], undefined)
})

test('a Pod in a new namespace waits for its ServiceAccount', async () => {
  await using fork = await cluster.fork()
  const metadata = { name: 'pod', namespace: 'new' }
  const [pod] = await fork.apply([
    { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'a', image: 'a' }] } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } },
  ])
  assert.equal(pod?.metadata.name, 'pod')
})

test('a namespace that is being deleted is created again', async () => {
  await using fork = await cluster.fork()
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'twice' } }
  const [first] = await fork.apply(namespace)
  await fork.request({ method: 'DELETE', path: '/api/v1/namespaces/twice' })
  const [second] = await fork.apply(namespace)
  assert.notEqual(second?.metadata.uid, first?.metadata.uid)
})

test('a manifest that cannot be read is reported with its line, and nothing is applied', async () => {
  await using fork = await cluster.fork()
  await assert.rejects(fork.apply(`${shop}---\na: [\n`), { message: /^line \d+: did not find/ })
  const file = join(folder, 'broken.yaml')
  writeFileSync(file, `${shop}---\n\nkind: Secret\n`)
  await assert.rejects(fork.apply(file), {
    message: `${file}:28: apiVersion is missing: add it, such as apiVersion: v1`,
  })
  await assert.rejects(fork.apply([{ kind: 'Secret' }, {}]), {
    message:
      /^objects\[0\]: apiVersion is missing.*\nobjects\[1\]: apiVersion and kind are missing$/,
  })
  await assert.rejects(fork.apply('# nothing\n'), {
    message: 'there are no manifests in the source',
  })
  assert.deepEqual(fork.history({ source: 'test' }), [])
})

test('a rejected object is reported with its manifest and the reason', async () => {
  await using fork = await cluster.fork()
  const file = join(folder, 'rejected.yaml')
  writeFileSync(
    file,
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndate: {}\n',
      'apiVersion: v2\nkind: ConfigMap\nmetadata: {name: c}\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d, namespace: none}\n',
    ].join('---\n'),
  )
  await assert.rejects(fork.apply(file), (error: Error) => {
    const lines = error.message.split('\n')
    assert.equal(lines.length, 4)
    assert.match(lines[0] ?? '', /rejected\.yaml:1: configmap\/A: .*Invalid value: "A"/)
    assert.match(lines[1] ?? '', /rejected\.yaml:5: configmap\/b: .*\.date: field not declared/)
    assert.match(
      lines[2] ?? '',
      /rejected\.yaml:10: configmap\/c: the server has no kind ConfigMap/,
    )
    assert.match(lines[3] ?? '', /rejected\.yaml:14: configmap\/d: namespaces "none" not found/)
    return true
  })
})

const immutable = (value: string): string =>
  `# settings\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: true\ndata: {a: ${value}}\n`

test('an immutable field and invalid YAML are reported with the file and the line', async () => {
  await using fork = await cluster.fork()
  const path = join(folder, 'immutable')
  mkdirSync(path)
  writeFileSync(join(path, 'a.yaml'), immutable('one'))
  await fork.apply(path)
  writeFileSync(join(path, 'a.yaml'), immutable('two'))
  await assert.rejects(fork.apply(path), {
    message: /^\S+\/immutable\/a\.yaml:2: configmap\/a: .*data: Forbidden: field is immutable/,
  })
  writeFileSync(join(path, 'b.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b\n')
  await assert.rejects(fork.apply(path), { message: /^\S+\/immutable\/b\.yaml:\d: did not find/ })
})

test('the error for an apply conflict names the other manager and the field', async () => {
  await using fork = await cluster.fork()
  const path = '/api/v1/namespaces/default/configmaps/a?fieldManager=other'
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  await fork.request({
    method: 'PATCH',
    path,
    contentType: 'application/apply-patch+yaml',
    body: { ...configMap, data: { a: 'other' } },
  })
  await assert.rejects(fork.apply({ ...configMap, data: { a: 'own' } }), {
    message:
      'objects[0]: configmap/a: conflict: "other" manages .data.a. Remove these fields from the manifest, or take them over with kubectl apply --server-side --force-conflicts --field-manager=keelson-apply',
  })
})

/**
 * Calls `run` with another PATH in the environment of this process. The tests of this file run one
 * after the other.
 */
async function withPath(path: string, run: () => Promise<void>): Promise<void> {
  const given = process.env['PATH']
  process.env['PATH'] = path
  try {
    await run()
  } finally {
    process.env['PATH'] = given
  }
}

test('a folder with a kustomization is built with kubectl', async () => {
  await using fork = await cluster.fork()
  const kustomized = join(folder, 'kustomized')
  mkdirSync(join(kustomized, 'base'), { recursive: true })
  writeFileSync(join(kustomized, 'kustomization.yaml'), 'resources: [base]\nnamePrefix: my-\n')
  writeFileSync(
    join(kustomized, 'base', 'kustomization.yaml'),
    'configMapGenerator:\n- name: a\n  literals: [a=b]\ngeneratorOptions: {disableNameSuffixHash: true}\n',
  )
  await withPath(dirname(toolPath('kubectl')), async () => {
    const [configMap] = await fork.apply(kustomized)
    assert.equal(configMap?.metadata.name, 'my-a')
    writeFileSync(join(kustomized, 'kustomization.yaml'), 'resources: [missing]\n')
    await assert.rejects(fork.apply(kustomized), {
      message: /^kubectl kustomize \S+ failed: error: .*missing/,
    })
  })
  await withPath(kustomized, () =>
    assert.rejects(fork.apply(kustomized), {
      message: /kustomization\.yaml needs kustomize: install kustomize or kubectl/,
    }),
  )
})
