import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyOver } from '../objects/apply/apply.ts'
import { compare } from '../objects/apply/compare.ts'
import { Differences } from '../objects/apply/differences.ts'
import { noFields } from '../objects/apply/field-set.ts'
import {
  identityOf,
  type Owners,
  printOwners,
  readOwners,
  type Writer,
} from '../objects/apply/managers.ts'
import { mergeTypeOfObjects } from '../objects/apply/object-merge-type.ts'
import { appliedSet } from '../objects/apply/owned.ts'
import { recordUpdate } from '../objects/apply/record.ts'
import { validateApplied, validateTyped } from '../objects/apply/validate.ts'
import { changedWires, givenWire, storedWire } from '../objects/apply/wire.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { encodeItem } from '../objects/codec/cbor/encode.ts'
import {
  cborBody,
  decodeBody,
  decodePatched,
  decodeProtobufBody,
} from '../objects/codec/decode-body.ts'
import { printOrdered, printSorted } from '../objects/codec/json.ts'
import { decodeStored, encodeStored, printObject } from '../objects/codec/object.ts'
import { encodeObject } from '../objects/codec/protobuf/envelope.ts'
import { convertYaml } from '../objects/codec/yaml.ts'
import { parts } from '../lib/scheduling/parts.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { applyPatch, type Patch } from '../objects/patch/patches.ts'
import { restoreStruct } from '../objects/patch/restore.ts'
import { decide } from '../request/verbs/write/decide.ts'
import { allSteps } from '../../test/support/harness/turns.ts'
import {
  itemText,
  type Kind,
  kinds,
  objectText,
  Texts,
} from '../../test/chaos/properties/random-objects.ts'
import { Random } from '../../test/chaos/simulation/random.ts'
import { apiVersionOf } from './resource.ts'

/** Time slices that end after each step, or after a random number of steps. */
class ShortSlices extends Slices {
  readonly stepsPerLook = 1
  readonly #random: Random | undefined

  constructor(random?: Random) {
    super()
    this.#random = random
  }

  override get isOver(): boolean {
    return this.#random?.chance(0.5) ?? true
  }

  override async turn(): Promise<void> {
    await Promise.resolve()
  }
}

const outcomeOf = (error: unknown): unknown =>
  error instanceof Error ? { name: error.name, message: error.message, refused: true } : error

function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return outcomeOf(error)
  }
}

/**
 * Does the same work on a random object twice, once in parts and once without interruption.
 * Compares the results.
 */
class Case {
  readonly #random: Random
  readonly #texts: Texts
  readonly #kind: Kind

  constructor(seed: number) {
    this.#random = new Random(seed)
    this.#texts = new Texts(this.#random)
    this.#kind = this.#random.pick(kinds)
  }

  async check(): Promise<void> {
    const { resource } = this.#kind
    const { shape } = resource
    const text = this.#text()
    const bytes = Buffer.from(text)
    const validation = this.#random.pick(['Ignore', 'Warn', 'Strict'] as const)
    this.#same('decode', () => decodeBody({ bytes }, resource, validation))
    const by = this.#random.pick(['patch', 'apply', 'webhook'] as const)
    this.#same('decode as patched', () => decodePatched(text, resource, by))
    this.#same('decode YAML', () => {
      const { json, duplicates } = convertYaml(bytes)
      return decodeBody(
        { bytes: Buffer.from(json), yamlDuplicates: duplicates, sent: bytes },
        resource,
        validation,
      )
    })
    const sent: Json = JSON.parse(text)
    this.#same('decode CBOR', () =>
      decodeBody(cborBody(encodeItem(sent), resource), resource, validation),
    )
    const [before, after] = [this.#decoded(text), this.#decoded(this.#text())]
    if (before === undefined || after === undefined || !isFields(sent)) return
    this.#checkForms(before, after)
    this.#checkOwnership(before, after, sent)
    await this.#checkApply(before, sent)
    for (const form of ['json', 'merge', 'strategic'] as const) {
      if (form !== 'strategic' || shape.custom === undefined) this.#checkPatch(before, form)
    }
  }

  #text(): string {
    const { resource, rest } = this.#kind
    return objectText(this.#texts, resource, apiVersionOf(resource), rest(this.#texts))
  }

  #decoded(text: string): KubeObject | undefined {
    try {
      return decodeBody({ bytes: Buffer.from(text) }, this.#kind.resource, 'Ignore').object
    } catch {
      return undefined
    }
  }

  #same(
    what: string,
    whole: () => unknown,
    divided = (slices: Slices) => allSteps(parts(whole, slices)),
  ): void {
    const expected = outcome(whole)
    for (const slices of [new ShortSlices(), new ShortSlices(this.#random)]) {
      assert.deepStrictEqual(
        outcome(() => divided(slices)),
        expected,
        `${what} of ${this.#kind.resource.kind}`,
      )
    }
  }

  #checkForms(before: KubeObject, after: KubeObject): void {
    const { resource } = this.#kind
    const { shape } = resource
    const { struct } = shape
    this.#same('print', () => [
      printObject(before, shape),
      printSorted(before),
      printOrdered(before),
    ])
    this.#same('encode', () => encodeStored(before, shape))
    this.#same('decode stored', () => decodeStored(encodeStored(before, shape), shape, 7))
    this.#same('decide', () => [
      decide(resource, after, before),
      decide(resource, structuredClone(before), before),
    ])
    this.#same('validate', () => [
      resource.rules.validate(before),
      resource.rules.warnings(before, undefined),
    ])
    if (shape.custom !== undefined) return
    const protobuf = encodeObject(before, struct)
    this.#same('protobuf', () => encodeStored(before, { ...shape, storedAs: 'protobuf' }))
    this.#same('decode protobuf', () => decodeProtobufBody(protobuf, resource))
    const spoiled = Buffer.from(protobuf)
    spoiled[this.#random.between(0, spoiled.length - 1)] = this.#random.between(0, 255)
    this.#same('decode invalid protobuf', () => decodeProtobufBody(spoiled, resource))
  }

  #checkOwnership(before: KubeObject, after: KubeObject, sent: Fields): void {
    const { struct } = this.#kind.resource.shape
    const type = mergeTypeOfObjects(struct)
    const [live, given] = [storedWire(before, struct), givenWire(after, struct)]
    this.#same('validate applied', () => [validateApplied(sent, type), validateTyped(live, type)])
    this.#same('wires', () => [
      changedWires(before, after, struct),
      givenWire(after, struct, before),
    ])
    this.#same('compare', () => compare(live, given, type))
    this.#same('restore', () => restoreStruct(sent, struct, { tree: live, value: before }))
    const owners = this.#owners(live, type)
    this.#same('read owners', () => readOwners(printOwners(owners)?.map((entry) => ({ ...entry }))))
    this.#same('record an update', () => {
      const differences = new Differences(() => ({ type, before: live, after: given }), noFields)
      return printOwners(
        recordUpdate(owners, { writer: writerOf('me', 'v9'), now: 'now', differences }),
      )
    })
  }

  #owners(live: Fields, type: ReturnType<typeof mergeTypeOfObjects>): Owners {
    const all = ['v1', 'v2', 'v3'].map((version) => {
      const writer = writerOf(`m${version}`, version)
      const partOf = Object.fromEntries(Object.entries(live).filter(() => this.#random.chance(0.7)))
      return [
        identityOf(writer),
        { ...writer, time: 't', fields: appliedSet(partOf, type), entry: undefined },
      ] as const
    })
    return new Map(all)
  }

  async #checkApply(before: KubeObject, sent: Fields): Promise<void> {
    const { struct } = this.#kind.resource.shape
    const type = mergeTypeOfObjects(struct)
    const live = storedWire(before, struct)
    const owners = this.#owners(live, type)
    const force = this.#random.chance(0.5)
    const run = async (slices: Slices | undefined): Promise<unknown> => {
      try {
        const { result, owners: left } = await applyOver({
          writer: { ...writerOf('me', 'v1'), operation: 'Apply' },
          live,
          applied: sent,
          type,
          owners,
          force,
          ignored: noFields,
          now: 'now',
          slices,
          typeIn: () => type,
          versions: async (made) => (version) =>
            version === 'v1'
              ? { type, before: live, after: made }
              : { type, before: { ...live, version: 'a' }, after: { ...made, version: 'b' } },
        })
        return { result, owners: printOwners(left) }
      } catch (error) {
        return outcomeOf(error)
      }
    }
    const expected = await run(undefined)
    assert.deepStrictEqual(
      await run(new ShortSlices()),
      expected,
      `apply of ${this.#kind.resource.kind}`,
    )
  }

  #checkPatch(object: KubeObject, form: Patch['form']): void {
    const { resource, rest } = this.#kind
    const texts = this.#texts
    const text =
      form === 'json' ? texts.list(() => this.#operation(), 4) : texts.struct(rest(texts))
    const run = (slices?: Slices): unknown => {
      const { shown, ...patched } = allSteps(
        applyPatch(object, { form, text, isChecked: true, slices }, resource),
      )
      return { ...patched, shown: shown() }
    }
    this.#same(`${form} patch`, run, run)
  }

  #operation(): string {
    const pointer = (): string => JSON.stringify(this.#random.pick(pointers))
    return this.#texts.struct({
      op: () =>
        JSON.stringify(this.#random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test'])),
      path: pointer,
      from: pointer,
      value: () => (this.#random.chance(0.5) ? itemText(this.#texts) : this.#texts.any(3)),
    })
  }
}

const pointers = [
  '/spec/items/3',
  '/spec/items/-',
  '/data/k1',
  '/metadata/labels',
  '/spec/template/spec/containers/0/env/0',
  '/spec/map/k3',
  '/spec',
  '/spec/named',
  '/bad/x/y',
]

const writerOf = (manager: string, apiVersion: string): Writer => ({
  manager,
  operation: 'Update',
  apiVersion,
  subresource: '',
})

test('work on random objects has the same result if it is divided into parts, wherever it is interrupted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => new Case(seed).check()),
    { numRuns: Number(process.env['KEELSON_RUNS'] ?? 20), endOnFailure: true },
  )
})
