/**
 * Tests that the real Helm installs a chart with a CustomResourceDefinition and an object of this
 * kind, on bin/keelson and a real etcd.
 */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEtcd } from '../support/harness/etcd.ts'
import { helmFor } from '../support/harness/helm.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { kubectlFor } from '../support/harness/kubectl.ts'

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ferries.harbour.example.com' },
  spec: {
    group: 'harbour.example.com',
    scope: 'Namespaced',
    names: { kind: 'Ferry', plural: 'ferries', shortNames: ['fy'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Berths', type: 'integer', jsonPath: '.spec.berths' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['berths'],
                properties: {
                  berths: { type: 'integer', minimum: 1 },
                  flag: { type: 'string', default: 'plain' },
                },
                'x-kubernetes-validations': [
                  { rule: 'self.berths <= 900', message: 'too many berths' },
                ],
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
}

const template = `apiVersion: harbour.example.com/v1
kind: Ferry
metadata: {name: {{ .Release.Name }}}
spec: {berths: {{ .Values.berths }}}
`

async function writeChart(dir: string): Promise<string> {
  const chart = join(dir, 'harbour')
  await mkdir(join(chart, 'crds'), { recursive: true })
  await mkdir(join(chart, 'templates'))
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: harbour\nversion: 0.1.0\n')
  await writeFile(join(chart, 'values.yaml'), 'berths: 100\n')
  await writeFile(join(chart, 'crds', 'ferry.yaml'), JSON.stringify(definition))
  await writeFile(join(chart, 'templates', 'ferry.yaml'), template)
  return chart
}

test('a chart with CustomResourceDefinitions can be installed, upgraded, rolled back and uninstalled', async () => {
  await using etcd = await startEtcd()
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl })
  await using kubectl = await kubectlFor(server, { namespace: 'port' })
  const helm = helmFor(kubectl, 'port')
  const chart = await writeChart(kubectl.dir)
  const spec = (): Promise<string> => kubectl.out('get', 'ferry/isle', '-o', 'jsonpath={.spec}')

  assert.match(await helm('install', 'isle', chart, '--create-namespace'), /^STATUS: deployed$/m)
  assert.equal(await spec(), '{"berths":100,"flag":"plain"}')
  assert.match(await kubectl.out('get', 'fy'), /^NAME +BERTHS\nisle +100\n$/)

  await helm('upgrade', 'isle', chart, '--set=berths=200')
  assert.equal(await spec(), '{"berths":200,"flag":"plain"}')
  await assert.rejects(helm('upgrade', 'isle', chart, '--set=berths=1000'), /too many berths/)
  assert.match(await helm('rollback', 'isle', '1'), /^Rollback was a success/m)
  assert.equal(await spec(), '{"berths":100,"flag":"plain"}')

  await helm('uninstall', 'isle')
  assert.equal(await kubectl.out('get', 'fy', '-o', 'name'), '')
  // Helm does not delete definitions, because this would delete the objects of all users.
  assert.match(await kubectl.out('get', 'crd', '-o', 'name'), /ferries\.harbour\.example\.com/)
})
