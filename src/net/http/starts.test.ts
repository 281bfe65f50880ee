import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Starting, Starts } from './starts.ts'

type Named = Starting<string> & { readonly name: string; readonly isGone?: boolean }

function harness(): { add: (request: Named) => void; began: string[]; nextTurn: () => boolean } {
  const began: string[] = []
  const due: (() => void)[] = []
  const starts = new Starts<string, Named>(
    ({ name, isGone = false }) => {
      if (!isGone) began.push(name)
      return !isGone
    },
    { defer: (call) => void due.push(call) },
  )
  const nextTurn = (): boolean => {
    const call = due.shift()
    call?.()
    return call !== undefined
  }
  return { add: (request) => starts.add(request), began, nextTurn }
}

const writes = (connection: string, count: number): Named[] =>
  Array.from({ length: count }, (_, at) => ({
    connection,
    method: 'POST',
    name: `${connection}${at}`,
  }))

test('a request begins at once when there is nothing else', () => {
  const { add, began } = harness()
  add({ connection: 'a', method: 'GET', name: 'only' })
  assert.deepEqual(began, ['only'])
})

test('a turn begins 32 writes, the others in the order they came', () => {
  const { add, began, nextTurn } = harness()
  const all = writes('a', 80)
  for (const request of all) add(request)
  assert.equal(began.length, 32)
  nextTurn()
  assert.equal(began.length, 64)
  while (nextTurn());
  assert.deepEqual(
    began,
    all.map(({ name }) => name),
  )
})

test('who sends one request waits for no more than a turn of those that send hundreds', () => {
  const { add, began, nextTurn } = harness()
  for (const request of writes('busy', 200)) add(request)
  add({ connection: 'small', method: 'GET', name: 'probe' })
  nextTurn()
  assert.ok(began.includes('probe'))
  assert.equal(began.filter((name) => name.startsWith('busy')).length, 64)
})

test('what nobody waits for any more takes no room of a turn', () => {
  const { add, began, nextTurn } = harness()
  for (const request of writes('a', 32)) add(request)
  for (const request of writes('b', 100)) add({ ...request, isGone: true })
  add({ connection: 'b', method: 'POST', name: 'last' })
  nextTurn()
  assert.equal(began.at(-1), 'last')
})

test('reads are lighter than writes, and nothing is left due when all have begun', () => {
  const { add, began, nextTurn } = harness()
  for (let at = 0; at < 400; at++) add({ connection: 'a', method: 'GET', name: `${at}` })
  assert.equal(began.length, 256)
  nextTurn()
  assert.equal(began.length, 400)
  nextTurn()
  assert.equal(nextTurn(), false)
})
