/**
 * Tests `keelson dev --apply` with the real process: manifests are applied, changed, corrected and
 * removed, also while the server is stopped, and kubectl accepts the ApplySet.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { toolPath } from '../support/harness/etcd.ts'
import { createCacheHome, keelsonProgram } from '../support/harness/keelson.ts'
import { until } from '../support/harness/until.ts'

/** Maximum time for a start, which takes minutes on a machine that is busy with other tests. */
const START_MS_MAX = 300_000

const run = promisify(execFile)
const dir = mkdtempSync(join(tmpdir(), 'keelson-dev-apply-'))
const folder = join(dir, 'manifests')
const kubectlEnv = {
  ...process.env,
  KUBECONFIG: join(dir, 'data', 'kubeconfig'),
  KUBECACHEDIR: join(dir, 'kubectl-cache'),
  KUBECTL_APPLYSET: 'true',
}
const kubectl = async (...args: readonly string[]): Promise<string> =>
  (await run(toolPath('kubectl'), args, { env: kubectlEnv })).stdout

const namesOf = async (...args: readonly string[]): Promise<readonly string[]> =>
  (await kubectl('get', ...args, '-o', 'name')).trim().split('\n')

class DevProcess implements AsyncDisposable {
  readonly child: ChildProcess
  /**
   * The lines of `keelson dev` on standard error that `next` has not returned yet. They do not
   * include the lines of the log.
   */
  #lines: string[] = []
  #rest = ''

  constructor(args: readonly string[]) {
    const flags = ['dev', '--data-dir=data', '--secure-port=0', ...args]
    this.child = spawn(keelsonProgram, flags, {
      cwd: dir,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, XDG_CACHE_HOME: createCacheHome(join(dir, 'cache')) },
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${this.#rest}${text}`.split('\n')
      this.#rest = lines.pop() ?? ''
      this.#lines.push(...lines.filter((line) => line.startsWith('keelson: ')))
    })
  }

  /** Returns the lines up to the next summary of the applied manifests. */
  async next(): Promise<readonly string[]> {
    const end = (): number => this.#lines.findIndex((line) => line.startsWith('keelson: applied '))
    const hasEnded = (): boolean => this.child.exitCode !== null
    await until(() => end() !== -1 || hasEnded(), 'a summary', START_MS_MAX)
    assert.ok(!hasEnded(), this.#lines.join('\n'))
    return this.#lines
      .splice(0, end() + 1)
      .map((line) => line.slice('keelson: '.length))
      .filter((line) => !line.startsWith('serving at '))
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const gone = once(this.child, 'close')
    this.child.kill('SIGTERM')
    await gone
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

const remove = (name: string): void => rmSync(join(folder, name))

const widget = (size: number): string => `# The CustomResourceDefinition is in a later file.
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: shop}
spec: {size: ${size}}
`
const settings = (currency: string): string => `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {currency: ${currency}}
`
const configMap = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: ${value}}\n`

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', maximum: 9 } } },
            },
          },
        },
      },
    ],
  },
}

let dev: DevProcess
before(() => {
  write('1-widget.yaml', widget(1))
  write('2-settings.yaml', settings('EUR'))
  write('deep/er/definition.json', JSON.stringify(definition))
  write('z.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n')
  dev = new DevProcess(['--apply=manifests'])
})
after(async () => {
  await dev.stop()
  rmSync(dir, { recursive: true, force: true })
})

test('when keelson dev starts, it applies the folder of --apply, including a CustomResourceDefinition and its objects', async () => {
  assert.deepEqual((await dev.next()).toSorted(), [
    'applied manifests: 4 created',
    'configmap/settings created in shop',
    'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created',
    'namespace/shop created',
    'widget.example.com/w created in shop',
  ])
})

test('changed files are applied, even if an editor replaces the files', async () => {
  write('2-settings.yaml', settings('USD'))
  assert.deepEqual(await dev.next(), [
    'configmap/settings configured in shop',
    'applied manifests: 1 configured, 3 unchanged',
  ])
  write('.1-widget.yaml.tmp', widget(2))
  renameSync(join(folder, '.1-widget.yaml.tmp'), join(folder, '1-widget.yaml'))
  assert.deepEqual(await dev.next(), [
    'widget.example.com/w configured in shop',
    'applied manifests: 1 configured, 3 unchanged',
  ])
  const value = ['-o', 'jsonpath={.data.currency}']
  assert.equal(await kubectl('get', '-n', 'shop', 'configmap', 'settings', ...value), 'USD')
})

test('the manifests in a new subfolder are applied', async () => {
  write('new/sub/a.yaml', configMap('a', 'one'))
  assert.deepEqual(await dev.next(), [
    'configmap/a created',
    'applied manifests: 1 created, 4 unchanged',
  ])
  write('new/sub/a.yaml', configMap('a', 'two'))
  assert.equal((await dev.next())[0], 'configmap/a configured')
})

test('errors in manifests name the file and the line, and nothing is deleted until the errors are corrected', async () => {
  write('1-widget.yaml', widget(10))
  assert.match((await dev.next())[0] ?? '', /^error: manifests\/1-widget\.yaml:2: .*size.* 9/)
  write('2-settings.yaml', 'a: [\n')
  remove('new/sub/a.yaml')
  const lines = await dev.next()
  assert.match(lines.join('\n'), /^error: manifests\/2-settings\.yaml:\d: /m)
  assert.match(
    lines.join('\n'),
    /^kept until the errors are corrected: configmap\/a, configmap\/settings$/m,
  )
  assert.equal(lines.at(-1), 'applied manifests: 2 unchanged, 2 errors')
  assert.deepEqual(await namesOf('-n', 'shop', 'configmap', 'settings'), ['configmap/settings'])
  write('2-settings.yaml', settings('USD'))
  assert.equal((await dev.next()).at(-1), 'applied manifests: 3 unchanged, 1 error')
  write('1-widget.yaml', widget(3))
  assert.deepEqual(await dev.next(), [
    'widget.example.com/w configured in shop',
    'configmap/a deleted',
    'applied manifests: 1 configured, 1 deleted, 3 unchanged',
  ])
})

test('keelson dev --apply changes an object that existed before, but never deletes it', async () => {
  await kubectl('create', 'configmap', 'before')
  // Create an object that is not in the folder, but has the labels of the objects in the folder.
  // This happens if a user copies such an object.
  await kubectl('create', 'configmap', 'copy')
  const labels = await kubectl('get', 'ns', 'shop', '-o', 'jsonpath={.metadata.labels}')
  const partOf = String(JSON.parse(labels)['applyset.kubernetes.io/part-of'])
  await kubectl('label', 'configmap', 'copy', `applyset.kubernetes.io/part-of=${partOf}`)
  write('before.yaml', configMap('before', 'changed'))
  write('own.yaml', configMap('own', 'one'))
  assert.deepEqual((await dev.next()).toSorted(), [
    'applied manifests: 1 created, 1 configured, 4 unchanged',
    'configmap/before configured',
    'configmap/own created',
  ])
  remove('before.yaml')
  remove('own.yaml')
  assert.deepEqual(await dev.next(), [
    'configmap/own deleted',
    'applied manifests: 1 deleted, 4 unchanged',
  ])
  const value = ['-o', 'jsonpath={.data.value}']
  assert.equal(await kubectl('get', 'configmap', 'before', ...value), 'changed')
  assert.deepEqual(await namesOf('configmap', 'copy'), ['configmap/copy'])
})

test('if the folder of --apply disappears, this is reported, and its objects are kept', async () => {
  renameSync(folder, `${folder}-2`)
  assert.match((await dev.next())[0] ?? '', /^error: ENOENT.* Its objects are kept$/)
  renameSync(`${folder}-2`, folder)
  assert.equal((await dev.next()).at(-1), 'applied manifests: 4 unchanged')
  symlinkSync('/etc/hostname', join(folder, 'link.yaml'))
  assert.match((await dev.next())[0] ?? '', /^error: manifests\/link\.yaml is a link to a file out/)
  remove('link.yaml')
  assert.equal((await dev.next()).at(-1), 'applied manifests: 4 unchanged')
})

test('manifests that are removed while the server is stopped are deleted at the next start', async () => {
  await dev.stop()
  remove('1-widget.yaml')
  write('2-settings.yaml', settings('CHF'))
  dev = new DevProcess(['--apply=manifests'])
  assert.deepEqual(await dev.next(), [
    'configmap/settings configured in shop',
    'widget.example.com/w deleted in shop',
    'applied manifests: 1 configured, 1 deleted, 2 unchanged',
  ])
  assert.deepEqual(await namesOf('configmap', 'before'), ['configmap/before'])
})

test('kubectl accepts the ApplySet that keelson dev creates', async () => {
  const [parent = ''] = await namesOf('configmap', '-l', 'applyset.kubernetes.io/id')
  const args = ['apply', '-f', join(folder, 'z.yaml'), '--server-side', '--prune']
  const prune = [...args, '-n', 'default', '--force-conflicts', `--applyset=${parent}`]
  await assert.rejects(kubectl(...prune), /is managed by tooling "keelson" instead of "kubectl"/)
  // With this annotation, kubectl accepts that it manages the ApplySet. It then checks the ID and
  // the kinds of the ApplySet.
  await kubectl('annotate', parent, 'applyset.kubernetes.io/tooling=kubectl/v1.33', '--overwrite')
  const printed = await kubectl(...prune)
  assert.match(printed, /^configmap\/settings pruned$/m)
  assert.match(printed, /^customresourcedefinition\S+\/widgets\.example\.com pruned$/m)
  assert.match(printed, /^namespace\/shop serverside-applied$/m)
  write('2-settings.yaml', settings('GBP'))
  const [fault = ''] = await dev.next()
  assert.match(fault, /^error: the ApplySet configmap\/\S+ belongs to kubectl\/v/)
})

test('invalid values of --apply are rejected before the server starts', async () => {
  const cases = [
    [['--apply=missing'], /--apply=missing does not exist: name a folder with manifests/],
    [['--apply=a', '--apply=b'], /--apply can be given only once/],
    [['--apply='], /--apply needs a value/],
  ] as const
  for (const [flags, message] of cases) {
    const args = ['dev', '--ephemeral', ...flags]
    await assert.rejects(run(keelsonProgram, args, { cwd: dir }), { code: 2, stderr: message })
  }
})
