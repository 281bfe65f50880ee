import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { FieldTable } from './hpack-encoder.ts'
import { createField, type HeaderField } from './field.ts'
import { HeaderMemory } from './header-memory.ts'
import { HpackDecoder } from './hpack-decoder.ts'
import { HpackEncoder } from './hpack-encoder.ts'
import { decodeHuffman } from './huffman.ts'

const limits = { headerBytesMax: 1 << 20, headersMax: 1000 }

function decode(decoder: HpackDecoder, hex: string): string[] {
  const fields: HeaderField[] = []
  assert.notEqual(decoder.decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'), fields, limits), -1)
  return fields.map(({ name, value }) => `${name}: ${value}`)
}

const requests = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [
    ':method: GET',
    ':scheme: http',
    ':path: /',
    ':authority: www.example.com',
    'cache-control: no-cache',
  ],
  [
    ':method: GET',
    ':scheme: https',
    ':path: /index.html',
    ':authority: www.example.com',
    'custom-key: custom-value',
  ],
]

describe('the decoder decodes the examples of RFC 7541, appendix C', () => {
  const sequences: readonly [string, readonly string[]][] = [
    [
      'C.3: requests without Huffman codes',
      [
        '828684410f7777772e6578616d706c652e636f6d',
        '828684be58086e6f2d6361636865',
        '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
      ],
    ],
    [
      'C.4: requests with Huffman codes',
      [
        '828684418cf1e3c2e5f23a6ba0ab90f4ff',
        '828684be5886a8eb10649cbf',
        '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
      ],
    ],
  ]
  for (const [name, blocks] of sequences) {
    test(name, () => {
      const decoder = new HpackDecoder(new HeaderMemory())
      for (const [at, block] of blocks.entries())
        assert.deepEqual(decode(decoder, block), requests[at])
    })
  }

  test('the decoder decodes all representations of a field (RFC 7541, C.2)', () => {
    const decoder = new HpackDecoder(new HeaderMemory())
    assert.deepEqual(decode(decoder, '400a637573746f6d2d6b65790d637573746f6d2d686561646572'), [
      'custom-key: custom-header',
    ])
    assert.deepEqual(decode(decoder, 'be'), ['custom-key: custom-header'], 'the table has it')
    assert.deepEqual(decode(decoder, '040c2f73616d706c652f70617468'), [':path: /sample/path'])
    assert.deepEqual(decode(decoder, '100870617373776f726406736563726574'), ['password: secret'])
    assert.deepEqual(decode(decoder, '82'), [':method: GET'])
  })
})

test('when the dynamic table becomes smaller, entries that no longer fit are evicted', () => {
  const decoder = new HpackDecoder(new HeaderMemory())
  decode(decoder, '4001610162')
  // Reduces the size of the table to 34 bytes, which is enough for only one of these entries.
  decode(decoder, '3f03 4001630164')
  assert.deepEqual(decode(decoder, 'be'), ['c: d'])
  assert.throws(() => decode(decoder, 'bf'), /an entry that is not in the table/)
})

const broken: readonly [string, string][] = [
  ['a reference to an entry that is not in the table', 'be'],
  ['a reference to entry zero', '80'],
  ['a number that does not end', '7fffffffffffffff'],
  ['a truncated number', '7f'],
  ['a truncated string', '000161'],
  ['a string longer than its block', '00ff6161'],
  ['a table larger than announced', '3fe21f'],
  ['a table size update after a field', '8220'],
  ['padding of zeros', '0001 61 81 18'],
  ['padding of more than seven bits', '0001 61 82 1fff'],
  ['the end-of-string symbol', '0001 61 84 ffffffff'],
]
for (const [what, hex] of broken) {
  test(`${what} is a connection error`, () => {
    assert.throws(() => decode(new HpackDecoder(new HeaderMemory()), hex), {
      name: 'Error',
      code: 9,
    })
  })
}

test('a header block that exceeds the limit is decoded completely, but the fields beyond the limit are omitted', () => {
  const decoder = new HpackDecoder(new HeaderMemory())
  const fields: HeaderField[] = []
  const entry = Buffer.from('4001610162', 'hex')
  const block = Buffer.concat([entry, Buffer.alloc(5000, 0xbe), Buffer.from('4001650166', 'hex')])
  assert.equal(decoder.decode(block, fields, { headerBytesMax: 1000, headersMax: 100 }), -1)
  assert.equal(fields.length, (1000 / 34) | 0)
  assert.deepEqual(decode(decoder, 'be'), ['e: f'])
})

test('decoding arbitrary bytes as Huffman codes never writes out of bounds', () => {
  // Only checks that no input causes writes out of bounds. Integration tests check the codes of all
  // common characters, with clients that use the encoders of Go and nghttp2.
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const into = Buffer.alloc(Math.ceil((bytes.length * 8) / 5))
      const written = decodeHuffman(Buffer.from(bytes), { start: 0, end: bytes.length }, into)
      assert.ok(written >= -1 && written <= into.length)
    }),
  )
})

test('the decoder decodes all header blocks of the encoder, even if blocks are repeated', () => {
  const name = fc.stringMatching(/^[a-z][a-z-]{0,40}$/)
  const value = fc.stringMatching(/^[!-~]{0,300}$/)
  const head = fc.array(
    fc.tuple(fc.oneof(name, fc.constantFrom('content-type', 'date', 'x')), value),
    {
      maxLength: 10,
    },
  )
  const encoder = new HpackEncoder()
  fc.assert(
    fc.property(
      fc.array(head, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(200, 201, 404, 418),
      (heads, status) => {
        const decoder = new HpackDecoder(new HeaderMemory())
        for (const [at, fields] of [...heads, ...heads].entries()) {
          encoder.begin(at === 0)
          encoder.status(status)
          for (const [key, text] of fields) encoder.field(key, text)
          const read = decode(decoder, encoder.block.subarray(0, encoder.length).toString('hex'))
          assert.deepEqual(read, [
            `:status: ${status}`,
            ...fields.map(([key, text]) => `${key}: ${text}`),
          ])
        }
      },
    ),
  )
})

test('the decoder finds the fields that the encoder added to the dynamic table of the connection', () => {
  const fields = fc.array(
    fc.tuple(
      fc.constantFrom('content-type', 'date', 'audit-id', 'x-a', 'x-b', 'x-c'),
      fc.oneof(
        fc.constantFrom('a', 'b', 'c\n', 'k\u00e4the', 'z'.repeat(128), 'z'.repeat(129)),
        fc.stringMatching(/^[a-z]{0,3}$/),
      ),
    ),
    { maxLength: 8 },
  )
  const block = fc.record({
    connection: fc.nat(2),
    fields,
    isSent: fc.boolean(),
    isWithout: fc.nat(60).map((chance) => chance === 0),
  })
  fc.assert(
    fc.property(fc.array(block, { minLength: 50, maxLength: 300 }), (blocks) => {
      const encoder = new HpackEncoder()
      const connections = Array.from({ length: 3 }, () => ({
        table: new FieldTable() as FieldTable | undefined,
        isFirst: true,
        decoder: new HpackDecoder(new HeaderMemory()),
      }))
      for (const { connection: at, fields: sent, isSent, isWithout } of blocks) {
        const connection = connections[at] ?? assert.fail()
        if (isWithout) {
          connection.table = undefined
          connection.isFirst = true
        }
        encoder.begin(connection.isFirst, connection, connection.table)
        for (const [name, value] of sent) encoder.field(name, value)
        if (!isSent) continue
        connection.table?.sent()
        connection.isFirst = false
        const read = decode(
          connection.decoder,
          encoder.block.subarray(0, encoder.length).toString('hex'),
        )
        assert.deepEqual(
          read,
          sent.map(([name, value]) => `${name}: ${value.replace('\n', ' ')}`),
        )
      }
    }),
  )
})

test('a repeated field takes one byte, and a field whose value always changes is sent as a literal', () => {
  const encoder = new HpackEncoder()
  const table = new FieldTable()
  const lengths = Array.from({ length: 2000 }, (_, at) => {
    encoder.begin(at === 0, table, table)
    encoder.field('content-type', 'application/json')
    encoder.field('audit-id', `${1e6 + at}`)
    table.sent()
    return encoder.length
  })
  const own = 1 + 1 + 'audit-id'.length + 1 + 7
  assert.deepEqual(new Set(lengths.slice(2)), new Set([1 + own]))
})

test('characters that HTTP does not allow in a value are replaced by spaces', () => {
  const encoder = new HpackEncoder()
  encoder.begin(false)
  encoder.field('warning', ['a\r\nb\0c', 'ü\u2028'])
  const read = decode(
    new HpackDecoder(new HeaderMemory()),
    encoder.block.subarray(0, encoder.length).toString('hex'),
  )
  assert.deepEqual(read, ['warning: a  b c', 'warning: ü '])
})

test('isValid is true only for fields that HTTP allows', () => {
  for (const [name, value] of [
    ['a', ''],
    ['x-y_z', 'a b\tc'],
    [':path', '/'],
    ['a', 'k\u00e4the '],
  ] as const) {
    assert.ok(createField(name, value).isValid, `${name}: ${value}`)
  }
  for (const [name, value] of [
    ['', 'x'],
    [':', 'x'],
    ['A', 'x'],
    ['a b', 'x'],
    ['a:', 'x'],
    ['a', 'x\r\ny'],
    ['a', 'x\0'],
    ['\u00e4', 'x'],
  ] as const) {
    assert.ok(!createField(name, value).isValid, `${name}: ${value}`)
  }
})
