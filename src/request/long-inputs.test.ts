/**
 * Tests that inputs within the size limits of a request are processed in linear time. In earlier
 * versions, each of these inputs took at least quadratic time.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonScanner } from '../api/json-scanner.ts'
import { readAny } from '../api/json-value.ts'
import type { Fields, Json } from '../api/object.ts'
import { parseFieldSelector } from '../api/field-selector.ts'
import { parseLabelSelector } from '../api/label-selector.ts'
import { goTime } from '../api/go-value.ts'
import { ownedLeaf } from '../objects/apply/field-set.ts'
import { printFieldsV1 } from '../objects/apply/fields-v1.ts'
import { validateApplied } from '../objects/apply/validate.ts'
import { ordered } from '../objects/patch/element-order.ts'
import { allSteps } from '../../test/support/harness/turns.ts'
import { readOperations } from '../objects/patch/read-operations.ts'
import { Work } from '../objects/patch/work.ts'
import { itemsByElement } from '../objects/apply/owned.ts'
import { isSameButTimes } from '../objects/apply/managers.ts'
import { toDouble } from '../objects/cel/conversions.ts'
import { readBytes } from '../objects/cel/literal.ts'
import { bodyForm } from '../objects/codec/body-form.ts'
import { duplicateFields } from '../objects/codec/duplicates.ts'
import { negotiateError } from '../objects/codec/negotiate.ts'
import { convertYaml } from '../objects/codec/yaml.ts'
import { issuerFaults, readIssuer } from '../config/files/issuer.ts'
import { tokenInHeader } from '../access/authentication/bearer-token.ts'
import { parseQuery } from '../net/http/target.ts'
import { readVerifyingKeys } from '../lib/jwt.ts'
import { decodePem } from '../lib/x509/pem.ts'
import { certificateBlocks } from '../lib/x509/trust-anchors.ts'
import { decodeContinue } from '../storage/paging.ts'
import { matchesFormat } from '../objects/schema/structural/formats.ts'

const HEADER_CHARACTERS = 1_000_000
const BODY_CHARACTERS = 3_000_000
/**
 * Maximum CPU time. The limit is generous, because other processes run on the machine. A few passes
 * over the whole input are acceptable, but one pass per character is not.
 */
const CPU_MS_MAX = 3_000

const attempt = (run: () => unknown) => (): void => {
  try {
    run()
  } catch {
    // It is acceptable that the input is rejected, because only the time is tested.
  }
}

const accept = (text: string) => ({ headers: { accept: text }, query: new URLSearchParams() })
const yaml = (text: string): unknown => convertYaml(Buffer.from(text))
const entries = Array.from(
  { length: 20_000 },
  (_, at): Json => ({ manager: `m${at}`, operation: 'Update' }),
)

const faultsOf = (issuer: Fields): unknown =>
  issuerFaults(readIssuer({ url: 'https://a', ...issuer }), { path: 'issuer', disallowed: [] })

/** A nested list with much whitespace between the brackets, as a webhook could return it. */
const nestedLists = `${`[${' '.repeat(16_384)}`.repeat(990)}1${']'.repeat(990)}`

const inputs: readonly (readonly [string, () => unknown])[] = [
  [
    'clauses of Accept',
    () =>
      negotiateError(
        accept('*,'.repeat(HEADER_CHARACTERS / 4) + 'a,'.repeat(HEADER_CHARACTERS / 4)),
      ),
  ],
  ['parameters of Accept', () => negotiateError(accept('a;'.repeat(HEADER_CHARACTERS / 2)))],
  [
    'spaces in Authorization',
    () => tokenInHeader({ authorization: `bearer${' '.repeat(HEADER_CHARACTERS)}x` }),
  ],
  [
    'spaces in Content-Type',
    () =>
      bodyForm({
        headers: { 'content-type': `application/json;a=${' '.repeat(HEADER_CHARACTERS)},` },
      }),
  ],
  ['query parameters without values', () => parseQuery('a&'.repeat(HEADER_CHARACTERS / 2))],
  ['query parameters made of escapes', () => parseQuery(`${'%ff'.repeat(33)}&`.repeat(9_999))],
  ['spaces in a query', () => parseQuery(`${'+'.repeat(99)}&`.repeat(9_999))],
  [
    'requirements of a label selector',
    () => parseLabelSelector('a=b,'.repeat(HEADER_CHARACTERS / 4)),
  ],
  [
    'values of a label requirement',
    () => parseLabelSelector(`a in (${','.repeat(HEADER_CHARACTERS)})`),
  ],
  ['terms of a field selector', () => parseFieldSelector('=,'.repeat(HEADER_CHARACTERS / 2))],
  [
    'escapes in a field selector',
    () => parseFieldSelector(`a=${'\\,'.repeat(HEADER_CHARACTERS / 2)}`),
  ],
  [
    'a long continue token',
    () => decodeContinue('/registry/pods/', 'YWFh'.repeat(HEADER_CHARACTERS / 4)),
  ],
  ['line ends before a YAML document', () => yaml(`${'\r\n'.repeat(100_000)}a: 1\n---\n`)],
  ['repeated keys in merged YAML maps', () => yaml('- {a: 1, <<: {a: 1, a: 2}}\n'.repeat(5_000))],
  [
    'duplicate fields below a long key',
    () => duplicateFields(`{"${'k'.repeat(1_000_000)}":{${'"a":1,'.repeat(300_000)}"a":1}}`),
  ],
  [
    'duplicate fields below a long key in each operation of a patch',
    () => {
      const value = `{"${'k'.repeat(30_000)}":{${'"a":1,'.repeat(100)}"a":1}}`
      const operation = `{"op":"add","path":"/a","value":${value}}`
      return allSteps(
        readOperations(`[${Array.from({ length: 90 }, () => operation).join()}]`, new Work(), true),
      )
    },
  ],
  [
    'numbers below a long key where strings are expected',
    () => {
      const type = {
        form: 'map',
        isAtomic: false,
        of: { form: 'list', by: 'whole', keys: [], of: { form: 'scalar', scalar: 'string' } },
      } as const
      return validateApplied(
        { ['k'.repeat(1_000_000)]: Array.from({ length: 500_000 }, () => 1) },
        type,
      )
    },
  ],
  [
    'owned list items in random order',
    () => {
      const elements = Array.from(
        { length: 80_000 },
        (_, at) => [`v:"a/${(at * 7919) % 80_000}"`, ownedLeaf] as const,
      )
      return printFieldsV1({ isOwned: false, children: new Map(elements) })
    },
  ],
  [
    'a reordered list',
    () => {
      const items = Array.from({ length: 60_000 }, (_, at) => `a/${at}`)
      return allSteps(
        ordered(items, {
          mergeKey: undefined,
          wanted: items.toReversed(),
          live: items,
          work: new Work(),
        }),
      )
    },
  ],
  [
    'nested lists with much space between the brackets',
    () => readAny(new JsonScanner(nestedLists)),
  ],
  ['PEM blocks without an end', () => decodePem('-----BEGIN A-----\n'.repeat(150_000))],
  [
    'PEM blocks of which only one has an end',
    () => decodePem(`${'-----BEGIN A-----\n'.repeat(150_000)}-----END A-----\n`),
  ],
  [
    'certificates without an end',
    () => certificateBlocks('-----BEGIN CERTIFICATE-----\n'.repeat(150_000)),
  ],
  [
    'public keys without an end',
    () => readVerifyingKeys('-----BEGIN PUBLIC KEY-----\n'.repeat(150_000)),
  ],
  [
    'slashes in the discovery URL of an issuer',
    () => faultsOf({ discoveryURL: `https://a${'/'.repeat(BODY_CHARACTERS)}b` }),
  ],
  [
    'audiences of an issuer',
    () => faultsOf({ audiences: Array.from({ length: 200_000 }, (_, at) => `${at}`) }),
  ],
  ['spaces in an email address', () => matchesFormat(`${' '.repeat(BODY_CHARACTERS)}(`, 'email')],
  ['zeros in an IP address', () => matchesFormat(`${'0'.repeat(BODY_CHARACTERS)}x.`, 'ipv4')],
  ['digits of a double', () => toDouble(`${'1'.repeat(BODY_CHARACTERS)}x`)],
  ['characters of a bytes literal', () => readBytes(`b'${'é'.repeat(200_000)}'`)],
  [
    'a list that repeats one item',
    () =>
      itemsByElement(
        Array.from({ length: 500_000 }, () => 'a'),
        { form: 'list', by: 'value', keys: [], of: { form: 'scalar', scalar: 'string' } },
      ),
  ],
  ['entries of managedFields', () => isSameButTimes(entries, entries.toReversed())],
  ['a long timestamp', () => goTime('T'.repeat(BODY_CHARACTERS))],
]

for (const [what, run] of inputs) {
  test(`processing ${what} takes linear time`, () => {
    const { user } = process.cpuUsage()
    attempt(run)()
    assert.ok((process.cpuUsage().user - user) / 1000 < CPU_MS_MAX)
  })
}
