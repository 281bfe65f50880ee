import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import { parseManifests } from '../apply/parse-manifests.ts'
import { checkObjects, inCheckingOrder } from './check-objects.ts'
import { printReport, printSummary, type Report } from './print-report.ts'
import { checkableMinors, gatesOfMinor, parseVersions } from './versions.ts'

const RELEASES = [33]

/** Returns a CustomResourceDefinition of the kind Widget, in which `spec` has this schema. */
const definitionOf = (spec: Fields, scope = 'Namespaced'): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope,
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})

const widget = (spec: Fields, more: Fields = {}): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'small' },
  spec,
  ...more,
})

const reportOf = (...objects: readonly object[]): Promise<Report> => reportOfSteps([objects])

async function reportOfSteps(steps: readonly (readonly object[])[]): Promise<Report> {
  const checked = inCheckingOrder(
    steps.map((objects) => {
      const text = objects.map((object) => JSON.stringify(object)).join('\n---\n')
      const { manifests, faults } = parseManifests(text, (line) => `widgets.yaml:${line}`)
      assert.deepEqual(faults, [])
      return manifests
    }),
  )
  const versions = await Promise.all(
    checkableMinors(RELEASES).map(async (minor) => ({
      minor,
      verdicts: await checkObjects(checked, gatesOfMinor(minor, RELEASES)),
    })),
  )
  return { versions, manifests: checked }
}

/** Returns for each object its outcomes in Kubernetes 1.31, 1.32 and 1.33. */
const outcomesOf = ({ versions, manifests }: Report): (string | undefined)[][] =>
  manifests.map((manifest) => versions.map(({ verdicts }) => verdicts.get(manifest)?.outcome))

const ruled = (type: string, rule: string, more: Fields = {}): Fields => ({
  type: 'object',
  properties: { value: { type, ...more, 'x-kubernetes-validations': [{ rule }] } },
})

test('a validation rule is refused for Kubernetes versions that lack a CEL library or macro of the rule', async () => {
  const named = ruled('string', '!format.dns1123Label().validate(self).hasValue()', {
    maxLength: 63,
  })
  const format = await reportOf(definitionOf(named))
  assert.deepEqual(outcomesOf(format), [['refused', 'ok', 'ok']])
  assert.match(printReport(format), /^ {2}1\.31 refused: .*undeclared reference to 'format'/m)
  const list = { maxItems: 5, items: { type: 'integer' } }
  const two = await reportOf(definitionOf(ruled('array', 'self.all(i, v, v > i)', list)))
  assert.deepEqual(outcomesOf(two), [['refused', 'refused', 'ok']])
  assert.match(printReport(two), /^ {2}1\.31-1\.32 refused: /m)
})

test('a validation rule that is too expensive is refused, and the objects of its definition are skipped', async () => {
  const items = { type: 'array', items: { type: 'string' } }
  const rule = "self.all(x, x.all(y, y.matches('a')))"
  const report = await reportOf(definitionOf(ruled('array', rule, { items })), widget({}))
  assert.deepEqual(outcomesOf(report), [
    ['refused', 'refused', 'refused'],
    ['skipped', 'skipped', 'skipped'],
  ])
  assert.match(printReport(report), /estimated rule cost exceeds budget/)
})

test('objects get defaults, and are validated by the schema and the rules', async () => {
  const definition = definitionOf({
    type: 'object',
    properties: { size: { type: 'integer', default: 2 }, color: { type: 'string', enum: ['red'] } },
    'x-kubernetes-validations': [{ rule: 'self.size > 2', message: 'too small' }],
  })
  const outcome = async (object: object): Promise<string> => {
    const report = await reportOf(object, definition)
    const [outcomes = []] = outcomesOf(report)
    assert.equal(new Set(outcomes).size, 1)
    return printReport(report)
  }
  assert.match(await outcome(widget({ size: 3 })), /^All versions accept all 2 objects\.$/m)
  assert.match(await outcome(widget({})), /1\.31-1\.33 refused: spec: .*too small/)
  assert.match(
    await outcome(widget({ size: 3, color: 'blue' })),
    /refused: spec\.color: Unsupported value: "blue"/,
  )
  assert.match(
    await outcome(widget({ size: 3 }, { apiVersion: 'example.com/v2' })),
    /refused: no matches for kind "Widget" in version "example\.com\/v2"/,
  )
  const warned = await outcome(widget({ size: 3, shape: 'round' }))
  assert.match(warned, /1\.31-1\.33 warning: unknown field "spec\.shape"/)
  assert.match(warned, /^All versions accept/m)
})

const sized = (maximum: number): object =>
  definitionOf({ type: 'object', properties: { size: { type: 'integer', maximum } } })

test('a second manifest of an object is checked as an update, with ratcheting', async () => {
  const report = await reportOfSteps([
    [sized(5), widget({ size: 5 })],
    [sized(3), widget({ size: 5 })],
    [widget({ size: 4 })],
  ])
  assert.deepEqual(
    outcomesOf(report).map(([, , newest]) => newest),
    ['ok', 'ok', 'ok', 'ok', 'refused'],
  )
  assert.match(
    printReport(report),
    /refused: spec\.size: Invalid value: 4: .*less than or equal to 3/,
  )
})

test('a second manifest of a definition is checked as an update', async () => {
  const report = await reportOfSteps([
    [definitionOf({ type: 'object' })],
    [definitionOf({ type: 'object' }, 'Cluster')],
  ])
  assert.match(
    printReport(report),
    /1\.31-1\.33 refused: spec\.scope: Invalid value: "Cluster": field is immutable/,
  )
})

test('the files can contain sample objects before the definition of their kind', async () => {
  const report = await reportOfSteps([[widget({})], [definitionOf({ type: 'object' })]])
  assert.deepEqual(outcomesOf(report).flat(), Array(6).fill('ok'))
})

test('objects of a kind that none of the checked files defines are not checked', async () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }
  assert.deepEqual(outcomesOf(await reportOf(definitionOf({ type: 'object' }), pod)), [
    ['ok', 'ok', 'ok'],
  ])
})

test('the summary for GitHub Actions escapes HTML in texts from the checked files', async () => {
  const rule = "self == '</pre><b>&'"
  const text = printSummary(await reportOf(definitionOf(ruled('integer', rule))))
  assert.match(text, /<tr><th>Object<\/th><th>1\.31<\/th><th>1\.32<\/th><th>1\.33<\/th><\/tr>/)
  assert.match(text, /<td>refused<\/td><td>refused<\/td><td>refused<\/td>/)
  assert.match(text, /&lt;\/pre&gt;&lt;b&gt;&amp;/)
  assert.doesNotMatch(text, /<b>/)
})

test('--versions accepts ranges and lists of Kubernetes versions', () => {
  const known = [31, 32, 33, 34]
  const minorsOf = (text: string) => parseVersions(text, known)
  assert.deepEqual(minorsOf('1.31-1.33'), { minors: [31, 32, 33] })
  assert.deepEqual(minorsOf('latest,1.31'), { minors: [31, 34] })
  assert.deepEqual(minorsOf('1.33.x-1.34'), { minors: [33, 34] })
  assert.deepEqual(minorsOf('1.30'), {
    faults: [
      '--versions: Kubernetes version "1.30" is not known. Known versions: 1.31, 1.32, 1.33, 1.34, latest',
    ],
  })
  assert.deepEqual(minorsOf('1.33-1.31'), {
    faults: ['--versions: the range 1.33-1.31 ends before it begins'],
  })
})

test('CRDs can be checked against all releases, and against the older versions that the first release can emulate', () => {
  assert.deepEqual(checkableMinors([33]), [31, 32, 33])
  assert.deepEqual(checkableMinors([33, 34, 35]), [31, 32, 33, 34, 35])
})
