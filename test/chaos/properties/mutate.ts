/** Makes small random changes to JSON, similar to mistakes of clients or to attacks. */
import type { Random } from '../simulation/random.ts'

const odd: readonly unknown[] = [
  '',
  'x',
  'A_b',
  '-',
  '..',
  '/',
  '0',
  '-1',
  '1.5',
  '10%',
  '101%',
  '1Gi',
  '10.0.0.1',
  '::1',
  '2001-02-03T04:05:06Z',
  'a'.repeat(300),
  '__proto__',
  'constructor',
  0,
  -1,
  1,
  65_536,
  2 ** 31,
  2 ** 53,
  1.5,
  true,
  false,
  null,
  [],
  {},
  [null],
  { '': null },
  [{}],
  { matchLabels: { a: 'b' } },
]

/** Returns a copy with `count` changes. */
export function mutated(value: unknown, count: number, random: Random): unknown {
  const copy: unknown = structuredClone(value)
  for (let left = count; left > 0; left--) change(copy, random)
  return copy
}

type Container = unknown[] | { [key: string]: unknown }

const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null

function change(root: unknown, random: Random): void {
  let at: unknown = root
  for (let depth = random.between(0, 7); depth > 0; depth--) {
    const inner: Container[] = isContainer(at) ? Object.values(at).filter(isContainer) : []
    if (inner.length === 0) break
    at = random.pick(inner)
  }
  if (!isContainer(at)) return
  const keys = Object.keys(at)
  const key = keys.length === 0 ? 'name' : random.pick(keys)
  const value: unknown = structuredClone(random.pick(odd))
  if (Array.isArray(at)) changeList(at, Number(key) || 0, value, random)
  else if (random.chance(0.35)) delete at[key]
  else Object.defineProperty(at, random.chance(0.1) ? String(random.pick(odd)) : key, own(value))
}

/**
 * Returns a property descriptor that makes any key an ordinary property, even `__proto__`.
 * JSON.parse creates such properties.
 */
const own = (value: unknown): PropertyDescriptor => ({
  value,
  enumerable: true,
  configurable: true,
  writable: true,
})

function changeList(list: unknown[], at: number, value: unknown, random: Random): void {
  if (random.chance(0.3)) list.splice(at, 1)
  else if (random.chance(0.4)) list.push(structuredClone(list[at]))
  else list[at] = value
}
